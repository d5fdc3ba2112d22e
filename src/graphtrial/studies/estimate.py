"""Estimate the run time of a study on this machine from a few measured batches of each model."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home, read_json, write_text
from graphtrial.core.spec import canonical_json, digest
from graphtrial.datasets import load
from graphtrial.datasets.prepare import is_prepared
from graphtrial.studies.plan import PlannedRow
from graphtrial.trials.environment import environment
from graphtrial.trials.store import TrialRecord


@dataclass(frozen=True)
class Timing:
    """Seconds of one epoch, training and validation, and their source."""

    epoch_seconds: float
    source: str


def hours_left(row: PlannedRow, done: Sequence[TrialRecord], timing: Timing | None) -> float | None:
    """Estimate the hours of the missing trials of a row, run sequentially; `None` where unknown.

    From the mean of finished trials of the row, else from the seconds of an epoch and the expected number of epochs.
    """
    missing = row.trials - len(done)
    if missing <= 0:
        return 0.0
    if done:
        return missing * statistics.fmean(_hours(record) for record in done)
    hours = None if timing is None else row.kind.estimate_hours(timing.epoch_seconds)
    return None if hours is None else missing * hours


def cached_timing(row: PlannedRow) -> Timing | None:
    """Return the cached timing of this model on this machine, if any."""
    path = _path(row)
    if not path.exists():
        return None
    values = read_json(path)
    return Timing(float(values["epoch_seconds"]), str(values["source"]))


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
    write_text(_path(row), canonical_json(asdict(timing)))
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


def _hours(record: TrialRecord) -> float:
    seconds = record.details.get("seconds", (record.epochs or 0) * (record.epoch_seconds or 0.0))
    return float(seconds) / 3600
