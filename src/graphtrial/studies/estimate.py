"""Estimate the run time of a study on this machine from a few measured batches of each model."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home
from graphtrial.core.hardware.measurements import read_measurement, write_measurement
from graphtrial.core.spec import digest
from graphtrial.datasets import load
from graphtrial.datasets.prepare import is_prepared
from graphtrial.studies.plan import PlannedRow
from graphtrial.studies.reference import reference
from graphtrial.trials.durations import Seconds, seconds_of, trial_seconds
from graphtrial.trials.environment import environment
from graphtrial.trials.store import TrialRecord


@dataclass(frozen=True)
class Timing:
    """Seconds of one epoch, training and validation, and their source."""

    epoch_seconds: float
    source: str


@dataclass(frozen=True)
class Estimate:
    """Time of the missing trials of a row, run sequentially; a `guess` is scaled from another measured model."""

    seconds: Seconds
    source: Literal["finished", "timed", "shipped", "nearest"]

    @property
    def is_guess(self) -> bool:
        """Whether neither this row nor its epochs were ever measured."""
        return self.source == "nearest"


def time_left(
    row: PlannedRow, done: Sequence[TrialRecord], timing: Timing | None, factor: float | None
) -> Estimate | None:
    """Estimate the time of the missing trials of a row, run sequentially; `None` where unknown.

    From finished trials of the row, else from the seconds of an epoch measured here, else from the shipped timings of
    this row or of the nearest measured model, multiplied by `factor`, the slowness of this machine.
    """
    missing = row.trials - len(done)
    if missing <= 0:
        return Estimate(Seconds(0.0, 0.0, 0.0), "finished")
    if done:
        lengths = [seconds_of(record) for record in done]
        each = Seconds(min(lengths), statistics.fmean(lengths), max(lengths))
        return Estimate(each.scaled(missing), "finished")
    if timing is not None:
        epoch = Seconds(*[timing.epoch_seconds] * 3)
        timed = trial_seconds(row.kind, epoch, ())
        return None if timed is None else Estimate(timed.scaled(missing), "timed")
    shipped = reference(row)
    if shipped is None:
        return None
    return Estimate(shipped.seconds.scaled(missing * (factor or 1.0)), "shipped" if shipped.measured else "nearest")


def cached_timing(row: PlannedRow) -> Timing | None:
    """Return the cached timing of this model on this machine; None if there is none, or if the file is damaged."""
    values = read_measurement(_path(row), {field.name for field in fields(Timing)})
    if values is None or not isinstance(values["epoch_seconds"], float) or values["epoch_seconds"] <= 0:
        return None
    return Timing(values["epoch_seconds"], str(values["source"]))


def measure_timing(row: PlannedRow) -> Timing:
    """Measure an epoch of a few batches, extrapolate to a whole one, and cache the timing.

    The dataset must be prepared: preparation may take much longer than the measurement.
    """
    if not row.kind.has_epochs:
        raise GraphTrialError(f"{row.model.name} is not trained in epochs, so there is none to time")
    if not is_prepared(row.dataset):
        raise GraphTrialError(f"{row.dataset} is not prepared; `graphtrial data prepare {row.dataset}` does it")
    dataset = load(row.dataset)
    spec = next(row.resolve(dataset))
    timing = Timing(row.kind.measure_epoch(spec, dataset), "measured on a few batches")
    write_measurement(_path(row), asdict(timing))
    return timing


def _path(row: PlannedRow) -> Path:
    """Return the cache file of the timing of a model on machines of this type."""
    here = environment()
    facts = {
        "dataset": row.dataset,
        "model": asdict(row.model),
        "batch": row.kind.batching,
        "machine": {key: here[key] for key in ("cpu", "system")} | {"torch": here["packages"].get("torch")},
    }
    return cache_home() / "timings" / f"{digest(facts)[:24]}.json"
