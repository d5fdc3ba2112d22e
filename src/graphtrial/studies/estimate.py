"""How long a study would take on this machine, from a few measured steps of each model."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home, read_json, write_text
from graphtrial.core.spec import canonical_json, digest
from graphtrial.datasets import load
from graphtrial.datasets.prepare import is_kept
from graphtrial.studies.plan import PlannedRow
from graphtrial.trials.environment import environment
from graphtrial.trials.store import TrialRecord


@dataclass(frozen=True)
class Timing:
    """The seconds of one epoch, training and validation, and where the number comes from."""

    epoch_seconds: float
    source: str


def hours_left(row: PlannedRow, done: Sequence[TrialRecord], timing: Timing | None) -> float | None:
    """Return the hours that the missing trials of a row would take one after the other, or nothing where unknown.

    Finished trials of the row tell best; else it is the seconds of an epoch times the epochs that the rules let expect.
    """
    missing = row.trials - len(done)
    if missing <= 0:
        return 0.0
    if done:
        return missing * statistics.fmean(_hours(record) for record in done)
    hours = None if timing is None else row.kind.estimate_hours(timing.epoch_seconds)
    return None if hours is None else missing * hours


def kept_timing(row: PlannedRow) -> Timing | None:
    """Return what was measured of this model on this machine before, if anything."""
    path = _path(row)
    if not path.exists():
        return None
    found = read_json(path)
    return Timing(float(found["epoch_seconds"]), str(found["source"]))


def measured_timing(row: PlannedRow) -> Timing:
    """Measure the seconds of an epoch of a few batches, and cache what follows for a whole one.

    The data must be prepared already, which may take longer than anybody waits for an estimate.
    """
    if not row.kind.has_epochs:
        raise GraphTrialError(f"{row.model.name} is not trained in epochs, so there is none to time")
    if not is_kept(row.dataset):
        raise GraphTrialError(f"{row.dataset} is not prepared; `graphtrial data prepare {row.dataset}` does it")
    dataset = load(row.dataset)
    spec = next(row.resolve(dataset))
    timing = Timing(row.kind.measure_epoch(spec, dataset), "measured on a few batches")
    write_text(_path(row), canonical_json(asdict(timing)))
    return timing


def _path(row: PlannedRow) -> Path:
    """Return where the timing of a model on this kind of machine is kept."""
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
