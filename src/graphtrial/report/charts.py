"""Data of the charts, drawn by charts.js."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphtrial.report.row_page import RowPage, labels
from graphtrial.results.statistics.ranks import Ranks
from graphtrial.results.titles import label_title
from graphtrial.training.outcome import Epoch

MOST_POINTS = 80
"""Maximum number of points of a curve on a page."""
MOST_LINES = 8
"""Maximum number of curves drawn at once, each in its own colour; others can be selected."""


@dataclass(frozen=True)
class Chart:
    """A chart with a title, a caption, and one or more views to select from.

    `xs` are x coordinates shared by the lines of several views.
    """

    title: str
    note: str
    views: list[dict[str, Any]]
    xs: list[list[int]] = field(default_factory=list)

    @property
    def data(self) -> dict[str, Any]:
        """JSON-like data for charts.js."""
        return {"views": self.views, "most": MOST_LINES, **({"xs": self.xs} if self.xs else {})}


def sampled(epochs: Sequence[Epoch], most: int = MOST_POINTS) -> Sequence[Epoch]:
    """Return at most `most` evenly spaced epochs, including the first and the last."""
    if len(epochs) <= most:
        return epochs
    return [epochs[round(i * (len(epochs) - 1) / (most - 1))] for i in range(most)]


def curve(epochs: Sequence[Epoch], value_of: Callable[[Epoch], float]) -> list[float | None]:
    """Return a value of each epoch with four significant digits; `None` where it is not finite."""
    return [digits(value, 4) if math.isfinite(value := value_of(epoch)) else None for epoch in epochs]


def digits(value: float, count: int = 6) -> float:
    """Round to `count` significant digits; integers stay as they are."""
    if isinstance(value, int):
        return value
    short = float(f"{value:.{count}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short


def learning(
    histories: Sequence[tuple[str, str | None, Sequence[Epoch]]], metric: str, title: str, note: str
) -> Chart | None:
    """Return the learning curves of trials, given as name, URL and epochs; `None` where no trial has epochs."""
    most = max(40, MOST_POINTS // (1 + len(histories) // 6))
    trained = [(name, href, sampled(epochs, most)) for name, href, epochs in histories if epochs]
    if not trained:
        return None
    measures: list[tuple[str, Callable[[Epoch], float], bool]] = [
        ("validation loss", lambda e: e.val_loss, True),
        (f"validation {metric}", lambda e: e.val_score, False),
        ("training loss", lambda e: e.train_loss, True),
    ]
    views = [
        _lines(label, [(name, href, curve(epochs, value_of)) for name, href, epochs in trained], loss)
        for label, value_of, loss in measures
    ]
    for view in views:
        for i, series in enumerate(view["series"]):
            series["x"] = i
    return Chart(title, note, views, [[epoch.epoch for epoch in epochs] for _, _, epochs in trained])


def one_training(epochs: Sequence[Epoch], metric: str) -> Chart | None:
    """Return the curves of a single trial: both losses, validation score, learning rate, seconds per epoch."""
    if not epochs:
        return None
    changes = _changes(epochs)
    epochs = sampled(epochs)

    def view(name: str, loss: bool, lines: list[tuple[str, Callable[[Epoch], float]]]) -> dict[str, Any]:
        return _lines(name, [(line, None, curve(epochs, value_of)) for line, value_of in lines], loss)

    views = [
        view("loss", True, [("training", lambda e: e.train_loss), ("validation", lambda e: e.val_loss)]),
        view(f"validation {metric}", False, [("validation", lambda e: e.val_score)]),
        _lines("learning rate", [("learning rate", None, curve(changes, lambda e: e.lr))], True),
        view("seconds per epoch", False, [("seconds", lambda e: e.seconds)]),
    ]
    views[2]["series"][0]["x"] = 1
    return Chart("Learning curve", "", views, [[epoch.epoch for epoch in part] for part in (epochs, changes)])


def _changes(epochs: Sequence[Epoch]) -> Sequence[Epoch]:
    """Return the ends of each run of equal learning rates, through which their curve is the same."""
    rates = [None, *(epoch.lr for epoch in epochs), None]
    ends = [epoch for i, epoch in enumerate(epochs) if rates[i] != epoch.lr or rates[i + 2] != epoch.lr]
    return sampled(ends)


def _lines(name: str, lines: Sequence[tuple[str, str | None, list[float | None]]], loss: bool) -> dict[str, Any]:
    """Return a view of lines over epochs; the axis of a loss is logarithmic over 1.5 decades and clips divergence."""
    series = [{"name": title, **({"href": href} if href else {}), "x": 0, "y": values} for title, href, values in lines]
    axis = {"label": name, **({"log_ratio": 30, "robust": True} if loss else {})}
    return {"name": name, "kind": "lines", "x": {"label": "epoch"}, "y": axis, "series": series}


def forest(rows: Sequence[RowPage], metric: str, arrow: str, root: str) -> Chart | None:
    """Return a forest plot: mean and 95 % confidence interval of each row, and the published mean ± std."""
    items = []
    for view, name in zip(rows, labels(rows), strict=True):
        test, printed = view.test, view.row.published if view.row.verdict.is_comparison else None
        theirs = printed.test if printed else None
        if test is None or not math.isfinite(test.mean):
            continue
        std = theirs.std if theirs else None
        items.append(
            {
                "name": name,
                "href": root + view.page,
                "mean": digits(test.mean),
                "low": None if test.ci_low is None else digits(test.ci_low),
                "high": None if test.ci_high is None else digits(test.ci_high),
                "published": theirs.mean if theirs else None,
                "published_low": theirs.mean - std if theirs and std is not None else None,
                "published_high": theirs.mean + std if theirs and std is not None else None,
                "lines": [f"{metric} {test}, n = {test.n}"]
                + ([f"95 % CI {test.interval}"] if test.ci_low is not None else [])
                + ([f"published {theirs.text}, {printed.where}"] if theirs and printed else []),
            }
        )
    if not items:
        return None
    published = any(item["published"] is not None for item in items)
    theirs_too = "; ◇ published mean ± standard deviation" if published else ""
    label = f"test {metric}, {arrow}"
    return Chart(
        "Ours and the published scores" if published else "Scores",
        f"● our mean with 95 % confidence interval{theirs_too}. A click opens the row.",
        [{"name": label, "kind": "intervals", "x": {"label": label}, "items": items}],
    )


def costs(rows: Sequence[RowPage], metric: str, root: str) -> Chart | None:
    """Return scatter plots of the score against parameters, time per epoch and time per trial."""
    measures: list[tuple[str, Callable[[RowPage], float | None]]] = [
        ("parameters", lambda v: v.row.params if v.row.has_epochs else None),
        ("seconds per epoch", lambda v: v.row.mean("epoch_seconds") if v.row.has_epochs else None),
        ("minutes per trial", lambda v: None if v.row.hours is None else 60 * v.row.hours),
    ]
    views = []
    for label, cost_of in measures:
        series: dict[str, list[dict[str, Any]]] = {}
        for view, name in zip(rows, labels(rows), strict=True):
            test, cost = view.test, cost_of(view)
            if test is None or not cost or not math.isfinite(test.mean):
                continue
            series.setdefault(label_title(view.row), []).append(
                {
                    "name": name,
                    "href": root + view.page,
                    "text": str(test),
                    "x": digits(cost),
                    "y": digits(test.mean),
                    "low": None if test.std is None else digits(test.mean - test.std),
                    "high": None if test.std is None else digits(test.mean + test.std),
                }
            )
        if sum(map(len, series.values())) > 1:
            views.append(
                {
                    "name": f"against {label}",
                    "kind": "points",
                    "x": {"label": label, "log_ratio": 8},
                    "y": {"label": f"test {metric}"},
                    "series": [{"name": name, "points": points} for name, points in series.items()],
                }
            )
    if not views:
        return None
    return Chart(
        "Score against cost",
        "One point per row, ± its standard deviation, one thread per trial. A click opens the row.",
        views,
    )


def memory(rows: Sequence[RowPage], root: str) -> Chart | None:
    """Return a bar chart of peak memory in training, where trials recorded it; figure 16 of Benchmarking GNNs (v5)."""
    items = []
    for view, name in zip(rows, labels(rows), strict=True):
        peaks = [t.details["peak_bytes"] for t in view.row.trials if isinstance(t.details.get("peak_bytes"), int)]
        if peaks:
            items.append({"name": name, "href": root + view.page, "value": digits(statistics.median(peaks) / 2**20, 4)})
    if not items:
        return None
    label = "peak memory in MiB"
    batches = sorted({view.row.first.spec.kind.batching["batch_size"] for view in rows if view.row.has_epochs})
    sizes = f"; batch size {', '.join(map(str, batches))}" if batches else ""
    note = f"Median over trials of the peak memory of the process above that at its start{sizes}."
    return Chart("Peak memory", note, [{"name": label, "kind": "bars", "x": {"label": label}, "items": items}])


def critical_differences(ranks: Ranks, titles: Mapping[str, str]) -> Chart:
    """Return the critical-difference diagram of ranks (Demsar 2006), models by their titles."""
    items = [{"name": titles[n], "rank": digits(r)} for n, r in zip(ranks.models, ranks.mean_ranks, strict=True)]
    groups = [[digits(ranks.mean_ranks[group[0]]), digits(ranks.mean_ranks[group[-1]])] for group in ranks.groups]
    view = {
        "name": "mean ranks",
        "kind": "ranks",
        "items": items,
        "groups": groups,
        "cd": digits(ranks.critical_difference),
    }
    note = "Mean ranks, best on the left. Bars join models within the critical difference of the Nemenyi test at 0.05."
    return Chart("Critical differences", note, [view])
