"""What the charts show, as data for charts.js; nothing here knows of pixels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphtrial.report.ranks import Ranks
from graphtrial.report.site.views import RowView
from graphtrial.training.outcome import Epoch

MOST_POINTS = 240
"""So many points of a curve reach a page; more cannot be told apart on a screen."""


@dataclass(frozen=True)
class Chart:
    """A drawing with a title, a sentence about how to read it, and one or more views to choose from."""

    title: str
    note: str
    views: list[dict[str, Any]]

    @property
    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {"views": self.views}


def curve(epochs: Sequence[Epoch], of: Callable[[Epoch], float], most: int = MOST_POINTS) -> list[list[float]]:
    """Return a number of each epoch with its number, at most `most` of them, evenly chosen, both ends kept."""
    if len(epochs) > most:
        epochs = [epochs[round(i * (len(epochs) - 1) / (most - 1))] for i in range(most)]
    return [[epoch.epoch, float(f"{of(epoch):.5g}")] for epoch in epochs if math.isfinite(of(epoch))]


def digits(value: float, count: int = 6) -> float:
    """Return a number with so many significant digits, a whole one as it is."""
    return value if isinstance(value, int) else float(f"{value:.{count}g}")


def labels(names: Sequence[str]) -> list[str]:
    """Return the names of rows for a chart, without a depth that all of them share."""
    ends = {name.rpartition("/")[2] for name in names}
    shared = len(names) > 1 and len(ends) == 1 and next(iter(ends)).startswith("layers=")
    return [name.rpartition("/")[0] if shared else name for name in names]


def learning(
    histories: Sequence[tuple[str, str | None, Sequence[Epoch]]], metric: str, title: str, note: str
) -> Chart | None:
    """Return the learning curves of some trials, given as name, address and epochs; nothing where no trial has any."""
    there = [(name, href, epochs) for name, href, epochs in histories if epochs]
    if not there:
        return None
    most = max(40, MOST_POINTS // (1 + len(there) // 6))
    measures: list[tuple[str, Callable[[Epoch], float], float]] = [
        ("validation loss", lambda e: e.val_loss, 30),
        (f"validation {metric}", lambda e: e.val_score, 1e9),
        ("training loss", lambda e: e.train_loss, 30),
    ]
    views = [
        {
            "name": what,
            "kind": "lines",
            "x": {"label": "epoch"},
            "y": {"label": what, "spread": spread},
            "series": [{"name": name, "href": href, "points": curve(epochs, of, most)} for name, href, epochs in there],
        }
        for what, of, spread in measures
    ]
    return Chart(title, note, views)


def one_training(epochs: Sequence[Epoch], metric: str) -> Chart | None:
    """Return the curves of a single trial: both losses together, the score, the learning rate."""
    if not epochs:
        return None

    def view(name: str, spread: float, lines: list[tuple[str, Callable[[Epoch], float]]]) -> dict[str, Any]:
        series = [{"name": line, "points": curve(epochs, of)} for line, of in lines]
        return {
            "name": name,
            "kind": "lines",
            "x": {"label": "epoch"},
            "y": {"label": name, "spread": spread},
            "series": series,
        }

    views = [
        view("loss", 30, [("training", lambda e: e.train_loss), ("validation", lambda e: e.val_loss)]),
        view(f"validation {metric}", 1e9, [("validation", lambda e: e.val_score)]),
        view("learning rate", 2, [("learning rate", lambda e: e.lr)]),
        view("seconds per epoch", 1e9, [("seconds", lambda e: e.seconds)]),
    ]
    return Chart("Learning curve", "", views)


def forest(rows: Sequence[RowView], metric: str, arrow: str, root: str) -> Chart | None:
    """Return each row's mean with its 95 % interval and the published mean beside it."""
    items = []
    for view, name in zip(rows, labels([v.name for v in rows]), strict=True):
        test, printed = view.test, view.row.published
        theirs = printed.test if printed else None
        if test is None or not math.isfinite(test.mean):
            continue
        spread = theirs.sd if theirs else None
        items.append(
            {
                "name": name,
                "href": root + view.page,
                "mean": digits(test.mean),
                "low": None if test.low is None else digits(test.low),
                "high": None if test.high is None else digits(test.high),
                "published": theirs.mean if theirs else None,
                "published_low": theirs.mean - spread if theirs and spread is not None else None,
                "published_high": theirs.mean + spread if theirs and spread is not None else None,
                "lines": [f"{metric} {test}, n = {test.n}"]
                + ([f"95 % interval {test.interval}"] if test.low is not None else [])
                + ([f"published {theirs.printed}"] if theirs else []),
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


def costs(rows: Sequence[RowView], metric: str, root: str) -> Chart | None:
    """Return the score against parameters, against time per epoch and against time per trial."""
    measures: list[tuple[str, Callable[[RowView], float | None]]] = [
        ("parameters", lambda v: v.row.params if v.row.has_epochs else None),
        ("seconds per epoch", lambda v: v.row.mean("epoch_seconds") if v.row.has_epochs else None),
        ("minutes per trial", lambda v: None if v.row.hours is None else 60 * v.row.hours),
    ]
    views = []
    for label, of in measures:
        series: dict[str, list[dict[str, Any]]] = {}
        for view, name in zip(rows, labels([v.name for v in rows]), strict=True):
            test, cost = view.test, of(view)
            if test is None or not cost or not math.isfinite(test.mean):
                continue
            series.setdefault(view.row.label, []).append(
                {
                    "name": name,
                    "href": root + view.page,
                    "printed": str(test),
                    "x": digits(cost),
                    "y": digits(test.mean),
                    "low": None if test.sd is None else digits(test.mean - test.sd),
                    "high": None if test.sd is None else digits(test.mean + test.sd),
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


def memory(rows: Sequence[RowView], root: str) -> Chart | None:
    """Return how much memory a training took at most, where trials noted it; figure 16 of Benchmarking GNNs (v5)."""
    items = []
    for view, name in zip(rows, labels([v.name for v in rows]), strict=True):
        peaks = [t.details["peak_bytes"] for t in view.row.trials if isinstance(t.details.get("peak_bytes"), int)]
        if peaks:
            items.append({"name": name, "href": root + view.page, "value": digits(statistics.median(peaks) / 2**20, 4)})
    if not items:
        return None
    label = "MiB at the peak of training"
    batches = sorted({view.row.first.spec.rules.batch_size for view in rows if view.row.has_epochs})  # type: ignore[union-attr]
    sizes = ", ".join(map(str, batches))
    note = f"Median over trials of the memory that a process needs beyond its start, with batches of {sizes}."
    return Chart("Memory of training", note, [{"name": label, "kind": "bars", "x": {"label": label}, "items": items}])


def critical_differences(ranks: Ranks) -> Chart:
    """Return the critical-difference diagram of some ranks (Demsar 2006)."""
    items = [{"name": n, "rank": digits(r)} for n, r in zip(labels(ranks.models), ranks.mean_ranks, strict=True)]
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
