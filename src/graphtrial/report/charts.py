"""What the charts show, as data for charts.js; nothing here knows of pixels."""

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

MOST_POINTS = 100
"""So many points of a curve reach a page; more cannot be told apart on a screen."""
MOST_LINES = 8
"""So many curves are drawn at once, each in a colour of its own; the others can be chosen."""


@dataclass(frozen=True)
class Chart:
    """A drawing with a title, a sentence about how to read it, and one or more views to choose from.

    `xs` holds the places along the axis that the lines of several views share.
    """

    title: str
    note: str
    views: list[dict[str, Any]]
    xs: list[list[int]] = field(default_factory=list)

    @property
    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {"views": self.views, "most": MOST_LINES, **({"xs": self.xs} if self.xs else {})}


def sampled(epochs: Sequence[Epoch], most: int = MOST_POINTS) -> Sequence[Epoch]:
    """Return at most `most` epochs, evenly chosen, both ends kept."""
    if len(epochs) <= most:
        return epochs
    return [epochs[round(i * (len(epochs) - 1) / (most - 1))] for i in range(most)]


def curve(epochs: Sequence[Epoch], of: Callable[[Epoch], float]) -> list[float | None]:
    """Return a number of each epoch with four digits; nothing where it is infinite or no number."""
    return [digits(value, 4) if math.isfinite(value := of(epoch)) else None for epoch in epochs]


def digits(value: float, count: int = 6) -> float:
    """Return a number with so many significant digits, a whole one as it is and without a point."""
    if isinstance(value, int):
        return value
    short = float(f"{value:.{count}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short


def learning(
    histories: Sequence[tuple[str, str | None, Sequence[Epoch]]], metric: str, title: str, note: str
) -> Chart | None:
    """Return the learning curves of some trials, given as name, address and epochs; nothing where no trial has any."""
    most = max(40, MOST_POINTS // (1 + len(histories) // 6))
    there = [(name, href, sampled(epochs, most)) for name, href, epochs in histories if epochs]
    if not there:
        return None
    measures: list[tuple[str, Callable[[Epoch], float], bool]] = [
        ("validation loss", lambda e: e.val_loss, True),
        (f"validation {metric}", lambda e: e.val_score, False),
        ("training loss", lambda e: e.train_loss, True),
    ]
    views = [
        _lines(what, [(name, href, curve(epochs, of)) for name, href, epochs in there], loss)
        for what, of, loss in measures
    ]
    for view in views:
        for place, series in enumerate(view["series"]):
            series["x"] = place
    return Chart(title, note, views, [[epoch.epoch for epoch in epochs] for _, _, epochs in there])


def one_training(epochs: Sequence[Epoch], metric: str) -> Chart | None:
    """Return the curves of a single trial: both losses together, the score, the learning rate."""
    if not epochs:
        return None
    epochs = sampled(epochs)

    def view(name: str, loss: bool, lines: list[tuple[str, Callable[[Epoch], float]]]) -> dict[str, Any]:
        return _lines(name, [(line, None, curve(epochs, of)) for line, of in lines], loss)

    views = [
        view("loss", True, [("training", lambda e: e.train_loss), ("validation", lambda e: e.val_loss)]),
        view(f"validation {metric}", False, [("validation", lambda e: e.val_score)]),
        view("learning rate", True, [("learning rate", lambda e: e.lr)]),
        view("seconds per epoch", False, [("seconds", lambda e: e.seconds)]),
    ]
    return Chart("Learning curve", "", views, [[epoch.epoch for epoch in epochs]])


def _lines(name: str, lines: Sequence[tuple[str, str | None, list[float | None]]], loss: bool) -> dict[str, Any]:
    """Return a view of lines over epochs; the axis of a loss may be logarithmic and leave out what diverges."""
    series = [{"name": title, **({"href": href} if href else {}), "x": 0, "y": values} for title, href, values in lines]
    along = {"label": name, **({"spread": 30, "robust": True} if loss else {})}
    return {"name": name, "kind": "lines", "x": {"label": "epoch"}, "y": along, "series": series}


def forest(rows: Sequence[RowPage], metric: str, arrow: str, root: str) -> Chart | None:
    """Return each row's mean with its 95 % interval and the published mean beside it."""
    items = []
    for view, name in zip(rows, labels(rows), strict=True):
        test, printed = view.test, view.row.published
        theirs = printed.test if printed else None
        if test is None or not math.isfinite(test.mean):
            continue
        spread = theirs.std if theirs else None
        items.append(
            {
                "name": name,
                "href": root + view.page,
                "mean": digits(test.mean),
                "low": None if test.ci_low is None else digits(test.ci_low),
                "high": None if test.ci_high is None else digits(test.ci_high),
                "published": theirs.mean if theirs else None,
                "published_low": theirs.mean - spread if theirs and spread is not None else None,
                "published_high": theirs.mean + spread if theirs and spread is not None else None,
                "lines": [f"{metric} {test}, n = {test.n}"]
                + ([f"95 % interval {test.interval}"] if test.ci_low is not None else [])
                + ([f"published {theirs.text}"] if theirs else []),
            }
        )
    if not items:
        return None
    note = "● our mean with its 95 % interval; ◇ the published mean ± its deviation. A click opens the row."
    label = f"test {metric}, {arrow}"
    return Chart(
        "Ours and the published scores",
        note,
        [{"name": label, "kind": "intervals", "x": {"label": label}, "items": items}],
    )


def costs(rows: Sequence[RowPage], metric: str, root: str) -> Chart | None:
    """Return the score against parameters, against time per epoch and against time per trial."""
    measures: list[tuple[str, Callable[[RowPage], float | None]]] = [
        ("parameters", lambda v: v.row.params if v.row.has_epochs else None),
        ("seconds per epoch", lambda v: v.row.mean("epoch_seconds") if v.row.has_epochs else None),
        ("minutes per trial", lambda v: None if v.row.hours is None else 60 * v.row.hours),
    ]
    views = []
    for label, of in measures:
        series: dict[str, list[dict[str, Any]]] = {}
        for view, name in zip(rows, labels(rows), strict=True):
            test, cost = view.test, of(view)
            if test is None or not cost or not math.isfinite(test.mean):
                continue
            series.setdefault(label_title(view.row), []).append(
                {
                    "name": name,
                    "href": root + view.page,
                    "printed": str(test),
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
                    "x": {"label": label, "spread": 8},
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
    """Return how much memory a training took at most, where trials noted it; figure 16 of Benchmarking GNNs (v5)."""
    items = []
    for view, name in zip(rows, labels(rows), strict=True):
        peaks = [t.details["peak_bytes"] for t in view.row.trials if isinstance(t.details.get("peak_bytes"), int)]
        if peaks:
            items.append({"name": name, "href": root + view.page, "value": digits(statistics.median(peaks) / 2**20, 4)})
    if not items:
        return None
    label = "MiB at the peak of training"
    batches = sorted({view.row.first.spec.kind.batching["batch_size"] for view in rows if view.row.has_epochs})
    sizes = ", ".join(map(str, batches))
    note = f"Median over trials of the memory that a process needs beyond its start, with batches of {sizes}."
    return Chart("Memory of training", note, [{"name": label, "kind": "bars", "x": {"label": label}, "items": items}])


def critical_differences(ranks: Ranks, titles: Mapping[str, str]) -> Chart:
    """Return the critical-difference diagram of some ranks (Demsar 2006), models by their titles."""
    items = [{"name": titles[n], "rank": digits(r)} for n, r in zip(ranks.models, ranks.mean_ranks, strict=True)]
    groups = [[digits(ranks.mean_ranks[group[0]]), digits(ranks.mean_ranks[group[-1]])] for group in ranks.groups]
    view = {
        "name": "mean ranks",
        "kind": "ranks",
        "items": items,
        "groups": groups,
        "cd": digits(ranks.critical_difference),
    }
    note = "Mean ranks, the best on the left. A bar joins models that Nemenyi's test at 0.05 does not tell apart."
    return Chart("Critical differences", note, [view])
