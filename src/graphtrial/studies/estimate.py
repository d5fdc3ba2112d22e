"""How long a study would take on this machine, from a few measured steps of each model."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home, read_json, write_text
from graphtrial.core.spec import canonical_json, digest
from graphtrial.datasets import load
from graphtrial.datasets.prepare import is_kept
from graphtrial.studies.plan import PlannedRow
from graphtrial.training.batches import Ids
from graphtrial.training.rules import TrainingRules
from graphtrial.training.trainer import train
from graphtrial.trials.environment import environment
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.trial import make_job, make_trial

STEPS = 3
"""How many batches an epoch is cut down to; the second epoch is timed, when everything is warm."""


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
    if timing is None or not isinstance(row.rules, TrainingRules):
        return None
    return missing * min(timing.epoch_seconds * expected_epochs(row.rules) / 3600, row.rules.max_hours)


def expected_epochs(rules: TrainingRules) -> int:
    """Return about how many epochs a training takes: each halving of the rate comes after twice the patience or so."""
    halvings = math.floor(math.log(rules.min_lr / rules.lr) / math.log(rules.factor)) + 1
    return max(1, min(rules.max_epochs, halvings * 2 * (rules.patience + 1)))


def kept_timing(row: PlannedRow) -> Timing | None:
    """Return what was measured of this model on this machine before, if anything."""
    path = _path(row)
    if not path.exists():
        return None
    found = read_json(path)
    return Timing(float(found["epoch_seconds"]), str(found["source"]))


def measured_timing(row: PlannedRow) -> Timing:
    """Train a model for two short epochs of a few batches and keep what follows for a whole one.

    The data must be prepared already, which may take longer than anybody waits for an estimate. Positional encodings
    are left out: they cost next to nothing in a step.
    """
    if not isinstance(row.rules, TrainingRules):
        raise GraphTrialError(f"{row.model.name} is not trained in epochs, so that there is none to time")
    if not is_kept(row.dataset):
        raise GraphTrialError(f"{row.dataset} is not prepared; `graphtrial data prepare {row.dataset}` does it")
    short = replace(row.rules, max_epochs=2, tested="last")
    spec = make_trial(load(row.dataset), row.model, None, row.protocol, short, split=0, seed=row.seeds[0])
    job = make_job(spec)
    share = (
        1.0 if job.split_level in ("node", "edge") else min(1.0, STEPS * short.batch_size / max(1, len(job.train_ids)))
    )
    few = replace(
        job,
        train_ids=_first(job.train_ids, share),
        val_ids=_first(job.val_ids, share),
        test_ids=_first(job.test_ids, share),
    )
    outcome = train(few)
    if len(outcome.epochs) < 2:
        raise GraphTrialError(f"{row.model.name} on {row.dataset} cannot be timed: its training {outcome.status}")
    made = Timing(outcome.epochs[-1].seconds / share, f"measured on {STEPS} batches")
    write_text(_path(row), canonical_json(asdict(made)))
    return made


def _first(ids: Ids, share: float) -> Ids:
    return ids[: max(1, round(share * len(ids)))]


def _path(row: PlannedRow) -> Path:
    """Return where the timing of a model on this kind of machine is kept."""
    here = environment()
    rules = asdict(row.rules)
    facts = {
        "dataset": row.dataset,
        "model": asdict(row.model),
        "batch": {key: rules.get(key) for key in ("batch_size", "gradient")},
        "machine": {key: here[key] for key in ("cpu", "system")} | {"torch": here["packages"].get("torch")},
    }
    return cache_home() / "timings" / f"{digest(facts)[:24]}.json"


def _hours(record: TrialRecord) -> float:
    seconds = record.details.get("seconds", (record.epochs or 0) * (record.epoch_seconds or 0.0))
    return float(seconds) / 3600
