"""Durations of the rows of a study on the machine of the shipped results, measured or from the nearest measured row."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import DATASETS
from graphtrial.shipped.timings import ShippedTiming, shipped_timings
from graphtrial.studies.plan import PlannedRow
from graphtrial.trials.durations import Seconds, trial_seconds

SAME_MODEL, SAME_DATASET, OTHER = 1.5, 2.0, 4.0
"""Ratios by which a row may be faster or slower than its nearest measured ones: of other settings, another model on the
same data, or other data."""


@dataclass(frozen=True)
class Reference:
    """Seconds of one trial of a row, and whether they were `measured` or scaled from the nearest measured model."""

    seconds: Seconds
    measured: bool


def reference(row: PlannedRow) -> Reference | None:
    """Return the duration of a trial on the machine of the shipped results, None where nothing is comparable."""
    kind = row.kind
    comparable = [one for one in shipped_timings() if (one.epoch_seconds is not None) == kind.has_epochs]
    same = [one for one in comparable if _is_same(one, row)]
    if same:
        total = sum(one.trials for one in same)
        mean = sum(one.seconds * one.trials for one in same) / total
        return Reference(Seconds(min(s.shortest for s in same), mean, max(s.longest for s in same)), measured=True)
    near = _nearest(row, comparable)
    if near is None:
        return None
    seconds = trial_seconds(kind, near, ()) if kind.has_epochs else near
    return None if seconds is None else Reference(seconds, measured=False)


def _is_same(timing: ShippedTiming, row: PlannedRow) -> bool:
    named = (timing.dataset, timing.model, timing.protocol, timing.encoding)
    return named == (row.dataset, row.model.name, row.protocol, str(row.encoding or "none")) and (
        timing.arguments == row.model.arguments
    )


def _nearest(row: PlannedRow, timings: Sequence[ShippedTiming]) -> Seconds | None:
    """Return the seconds of an epoch, or of a trial without epochs, as a range around the nearest measured rows.

    Nearest are, in this order, the same model on the same data, other models on them, the same model on other data of
    known size, and any model on such data.
    """
    here = [one for one in timings if one.dataset == row.dataset]
    own = [one for one in here if one.model == row.model.name]
    if own:
        return _around([_value(one) * factor for one in own for factor in _growth(one, row)], SAME_MODEL)
    if here:
        return _around([_value(one) for one in here], SAME_DATASET)
    size = _size(row.dataset)
    sized = [(one, other) for one in timings if (other := _size(one.dataset)) is not None]
    if size is None or not sized:
        return None
    again = [pair for pair in sized if pair[0].model == row.model.name]
    return _around([_value(one) * size / other for one, other in again or sized], SAME_MODEL if again else OTHER)


def _growth(timing: ShippedTiming, row: PlannedRow) -> tuple[float, ...]:
    """Return the ratios of the cost of two settings of a model: linear in the depth, between w and w^2 in the width."""
    layers, width = (_ratio(timing, row, key) for key in ("layers", "width"))
    return layers * width, layers * width**2


def _ratio(timing: ShippedTiming, row: PlannedRow, key: str) -> float:
    ours, theirs = row.settings.get(key), timing.arguments.get(key, row.settings.get(key))
    numbers = all(isinstance(value, int) and value > 0 for value in (ours, theirs))
    return ours / theirs if numbers else 1.0  # type: ignore[operator]


def _value(timing: ShippedTiming) -> float:
    return timing.seconds if timing.epoch_seconds is None else timing.epoch_seconds


def _around(values: Sequence[float], ratio: float) -> Seconds:
    middle = math.exp(statistics.fmean(math.log(value) for value in values))
    return Seconds(min(values) / ratio, middle, max(values) * ratio)


def _size(dataset: str) -> float | None:
    """Return the number of nodes and edges of all graphs of a dataset, as published."""
    try:
        published = DATASETS.get(dataset).published
    except GraphTrialError:
        return None
    return published.graphs * (published.nodes + published.edges) if published else None
