"""Record of a trial in a store, and the validation of its columns."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.spec import canonical_json
from graphtrial.training.outcome import MIXED_DEVICES, Epoch
from graphtrial.trials.fields import (
    Check,
    check_fields,
    is_amount,
    is_count,
    is_id,
    is_name,
    is_number,
    is_sha256,
    optional,
    read_object,
)
from graphtrial.trials.store.digests import history_digest, trial_digest
from graphtrial.trials.trial import TrialSpec

FINISHED = ("done", "time", "diverged", "oom")
STATUSES = (*FINISHED, "running", "paused", "interrupted", "failed")
LONGEST_ERROR = 100_000
LONGEST_NAME, LONGEST_LIST = 100, 8
SCORES = ("train", "val", "test")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


COLUMNS: dict[str, Check] = {
    "id": is_id,
    "spec": _is_text,
    "dataset": is_name,
    "model": is_name,
    "metric": is_name,
    "higher_is_better": lambda value: type(value) is int and value in (0, 1),
    "status": lambda value: value in STATUSES,
    "starts": is_count,
    "started": is_amount,
    "finished": optional(is_amount),
    "params": optional(is_count),
    "epochs": optional(is_count),
    "epoch_seconds": optional(is_amount),
    **dict.fromkeys(SCORES, optional(is_number)),
    "error": optional(_is_text),
    "environment": _is_text,
    "details": _is_text,
    "weights": optional(is_sha256),
    "history": optional(is_sha256),
    "digest": is_sha256,
}
EPOCH: dict[str, Check] = {
    "epoch": is_count,
    "lr": is_amount,
    **dict.fromkeys(("train_loss", "val_loss", "val_score"), is_number),
    "seconds": is_amount,
}
RESULT = ("finished", "params", "epochs", "epoch_seconds", "history")
"""Columns that every finished trial has."""


@dataclass(frozen=True)
class TrialRecord:
    """A trial in the store. `status` is running, paused, interrupted, failed, or one of `FINISHED`.

    `weights` is the SHA-256 of the weights file, if the trial has one, and `digest` that of the whole record.
    """

    id: str
    spec: TrialSpec
    metric: str
    higher_is_better: bool
    status: str
    starts: int
    started: float
    finished: float | None
    params: int | None
    epochs: int | None
    epoch_seconds: float | None
    scores: dict[str, float]
    error: str | None
    environment: dict[str, Any]
    details: dict[str, Any]
    weights: str | None
    history: str | None
    digest: str

    @property
    def device(self) -> str:
        """Where the trial was computed: cpu, mps, cuda and the name of the GPU; all of them where it was moved."""
        mixed = self.details.get(MIXED_DEVICES)
        if isinstance(mixed, list) and mixed:
            return f"mixed: {', '.join(str(device)[:LONGEST_NAME] for device in mixed[:LONGEST_LIST])}"
        kind, gpu = self.environment.get("device", "cpu"), self.environment.get("gpu")
        return str(kind)[:LONGEST_NAME] + (f" ({str(gpu)[:LONGEST_NAME]})" if gpu else "")

    @property
    def is_finished(self) -> bool:
        """The trial has a result and is never run again."""
        return self.status in FINISHED


def record_of(row: sqlite3.Row | Mapping[str, Any]) -> TrialRecord:
    """Return a trial of the store after validating types, ranges, identity and digest."""
    name = row["id"] if is_id(row["id"]) else repr(row["id"])[:40]
    values = {key: row[key] for key in row.keys()}  # noqa: SIM118 - a row of SQLite has keys, but is not a mapping
    try:
        check_fields(values, COLUMNS, "it", set(COLUMNS))
        spec = TrialSpec.from_dict(read_object(values["spec"]))
        environment, details = read_object(values["environment"]), read_object(values["details"])
        _check_identity(values, spec)
    except (GraphTrialError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise CorruptFileError(
            f"trial {name} in the store cannot be read ({error}); `graphtrial doctor` checks all trials"
        ) from error
    scores = {score: values.pop(score) for score in SCORES}
    for column in ("dataset", "model"):
        del values[column]
    present = {key: value for key, value in scores.items() if value is not None}
    parsed = {"spec": spec, "environment": environment, "details": details, "scores": present}
    return TrialRecord(**{**values, **parsed, "higher_is_better": bool(values["higher_is_better"])})


def row_of(record: TrialRecord) -> dict[str, Any]:
    """Return the columns of a trial; the store writes the digest."""
    return {
        **{name: getattr(record, name) for name in COLUMNS if hasattr(record, name)},
        **{score: record.scores.get(score) for score in SCORES},
        "spec": canonical_json(record.spec.to_dict()),
        "dataset": record.spec.dataset,
        "model": record.spec.model.name,
        "higher_is_better": int(record.higher_is_better),
        "environment": canonical_json(record.environment),
        "details": canonical_json(record.details),
    }


def history_of(rows: Sequence[sqlite3.Row], trial: Mapping[str, Any] | sqlite3.Row | None) -> list[Epoch]:
    """Return the epochs of a trial; those of a finished one are verified against their digest.

    Epochs of an unfinished trial are for display: a training resumes from its checkpoint, which has a digest, and
    writes its whole history again when it ends.
    """
    epochs = [_epoch(row) for row in rows]
    if trial is None or trial["status"] not in FINISHED:
        return epochs
    if len(epochs) != trial["epochs"] or history_digest(epochs) != trial["history"]:
        raise CorruptFileError(
            f"the epochs of trial {trial['id']} were changed after they were written; "
            "`graphtrial doctor` checks all trials"
        )
    return epochs


def _epoch(row: sqlite3.Row) -> Epoch:
    trial, *values = row
    number, *numbers = values
    # A store has a hundred thousand epochs: a fast check of valid ones, and full validation of all others.
    valid = type(number) is int and number >= 0 and all(type(one) is float for one in numbers)
    if not valid or not math.isfinite(sum(map(abs, numbers))) or numbers[0] < 0 or numbers[-1] < 0:
        try:
            check_fields(dict(zip(EPOCH, values, strict=True)), EPOCH, "an epoch", set(EPOCH))
        except GraphTrialError as error:
            raise CorruptFileError(f"trial {str(trial)[:40]} in the store cannot be read: {error}") from error
    return Epoch(*values)


def epoch_row(trial: str, epoch: Epoch) -> dict[str, Any]:
    """Return the columns of an epoch."""
    values = {name: float(value) if name != "epoch" else value for name, value in vars(epoch).items()}
    check_fields(values, EPOCH, f"epoch {epoch.epoch} of trial {trial}", set(EPOCH))
    return {"trial": trial, **values}


def _check_identity(values: Mapping[str, Any], spec: TrialSpec) -> None:
    """Raise an error unless id, specification, status and digest are consistent."""
    if spec.id != values["id"]:
        raise GraphTrialError(f"its specification is that of trial {spec.id}")
    if (values["dataset"], values["model"]) != (spec.dataset, spec.model.name):
        raise GraphTrialError("its dataset or model is not that of its specification")
    if values["status"] in FINISHED and any(values[name] is None for name in RESULT):
        raise GraphTrialError("it is finished, but has no result")
    if values["status"] not in FINISHED and any(values[name] is not None for name in (*RESULT, *SCORES, "weights")):
        raise GraphTrialError("it has a result, but is not finished")
    if trial_digest(values) != values["digest"]:
        raise GraphTrialError("it was changed after it was written")
