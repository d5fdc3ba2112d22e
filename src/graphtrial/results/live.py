"""Snapshot of a store: running trials with progress and time left, counts by status, last failures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from graphtrial.core.spec import canonical_json
from graphtrial.results.titles import trial_title
from graphtrial.training.outcome import Epoch
from graphtrial.trials.heartbeat import is_running, running_host
from graphtrial.trials.store import Store, TrialRecord

MOST_FAILURES = 5


@dataclass(frozen=True)
class Running:
    """A running trial: its last epoch, and the estimated progress (0 to 1) and seconds left."""

    id: str
    name: str
    epoch: int
    val_loss: float | None
    val_score: float | None
    metric: str
    lr: float | None
    epoch_seconds: float | None
    progress: float | None
    seconds_left: float | None
    host: str = ""


@dataclass(frozen=True)
class Failure:
    """A failed trial and the last line of its error message."""

    id: str
    name: str
    reason: str


@dataclass(frozen=True)
class Snapshot:
    """A store at one moment: number of trials by status, running trials, last failures."""

    statuses: dict[str, int]
    running: tuple[Running, ...]
    failures: tuple[Failure, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the snapshot as JSON-like values."""
        return asdict(self)


def snapshot(store: Store) -> Snapshot:
    """Take a snapshot of a store; a running trial without a process counts as interrupted."""
    records = store.trials()
    statuses: dict[str, int] = {}
    running = []
    for record in records:
        status = record.status
        if status == "running":
            if is_running(store, record.id):
                current = _running(record, store.history(record.id), records)
                running.append(replace(current, host=running_host(store, record.id)))
            else:
                status = "interrupted"
        statuses[status] = statuses.get(status, 0) + 1
    failed = [record for record in records if record.status == "failed"][-MOST_FAILURES:]
    failures = tuple(Failure(record.id, trial_title(record), _last_line(record.error)) for record in failed)
    return Snapshot(dict(sorted(statuses.items())), tuple(running), failures)


def _running(record: TrialRecord, history: Sequence[Epoch], records: Sequence[TrialRecord]) -> Running:
    last = history[-1] if history else None
    seconds = statistics.fmean(epoch.seconds for epoch in history) if history else None
    expected = _expected_epochs(record, records)
    progress = left = None
    if expected is not None and last is not None and seconds is not None:
        total = max(expected, last.epoch + 1)  # a running trial has at least one more epoch
        progress, left = last.epoch / total, (total - last.epoch) * seconds
    return Running(
        id=record.id,
        name=trial_title(record),
        epoch=last.epoch if last else 0,
        val_loss=last.val_loss if last else None,
        val_score=last.val_score if last else None,
        metric=record.metric,
        lr=last.lr if last else None,
        epoch_seconds=seconds,
        progress=progress,
        seconds_left=left,
    )


def _expected_epochs(record: TrialRecord, records: Sequence[TrialRecord]) -> float | None:
    """Return the expected number of epochs: the mean of finished trials of the row, else an estimate by the rules."""
    if not record.spec.kind.has_epochs:
        return None
    row = canonical_json(record.spec.row)
    same = [
        other.epochs
        for other in records
        if other.is_finished and other.epochs and canonical_json(other.spec.row) == row
    ]
    return statistics.fmean(same) if same else record.spec.kind.expected_epochs


def _last_line(error: str | None) -> str:
    lines = (error or "").strip().splitlines()
    return lines[-1] if lines else "no error message"


def duration(seconds: float) -> str:
    """Format a duration in its two largest units: 41 s, 3 min 5 s, 2 h 10 min, 3 d 4 h."""
    left = round(seconds)
    parts = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        parts.append((left // size, unit))
        left %= size
    first = next((i for i, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"
