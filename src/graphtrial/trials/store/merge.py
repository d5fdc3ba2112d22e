"""What several machines found, in one store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import atomic_path, sha256_of
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store, TrialRecord

RESULT = ("status", "params", "epochs", "scores")
"""What two runs of one trial should agree in."""


@dataclass(frozen=True)
class Merged:
    """Ids of the trials that were copied, that both stores had with one result, and that they have different ones of.

    `weights` were copied, in this run, `refused` are trials that are damaged there and were not copied, `damaged` those
    whose weights are. `left` counts the unfinished ones, which are not copied.
    """

    copied: tuple[str, ...]
    same: tuple[str, ...]
    different: tuple[str, ...]
    weights: tuple[str, ...]
    refused: tuple[str, ...]
    damaged: tuple[str, ...]
    left: int


def merge(store: Store, other: Path) -> Merged:
    """Copy the finished trials of another store, with their epochs and weights, unless they are finished here too.

    Where both have a result, the one here stays. The other store is only read, and each of its trials is checked as any
    that is read. Weights are copied first, each verified against its digest, and then all trials in one step: a run
    that was killed is finished by the next one, which also copies weights that are missing here.
    """
    if not other.exists():
        raise GraphTrialError(f"there is no store {other}")
    if other.resolve() == store.path.resolve():
        raise GraphTrialError(f"{other} cannot be merged into itself")
    source = Store(other, read_only=True)
    here = {record.id: record for record in store.trials() if record.is_finished}
    there, refused, left = [], [], 0
    for trial, record, _ in source.examine():
        if record is None:
            refused.append(trial)
        elif record.is_finished:
            there.append(record)
        else:
            left += 1
    new = [record for record in there if record.id not in here]
    both = [record for record in there if record.id in here]
    agrees = {
        record.id: all(getattr(here[record.id], name) == getattr(record, name) for name in RESULT) for record in both
    }
    wanted = [*new, *(record for record in both if record.weights and record.weights == here[record.id].weights)]
    weights, damaged = _copy_weights(source, store, wanted)
    store.take(_with_epochs(source, new))
    for record in new:
        Checkpoint(store.checkpoint_file(record.id)).remove()
    return Merged(
        copied=tuple(record.id for record in new),
        same=tuple(trial for trial in agrees if agrees[trial]),
        different=tuple(trial for trial in agrees if not agrees[trial]),
        weights=weights,
        refused=tuple(refused),
        damaged=damaged,
        left=left,
    )


def _with_epochs(source: Store, records: list[TrialRecord]) -> Iterator[tuple[TrialRecord, list[Epoch]]]:
    for record in records:
        yield record, source.history(record.id)


def _copy_weights(source: Store, target: Store, records: list[TrialRecord]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Copy the weights that are there and missing or damaged here; return whose were copied, and whose are damaged."""
    copied, damaged = [], []
    for record in records:
        file = target.weights_file(record.id)
        if record.weights is None or not source.weights_file(record.id).is_file():
            continue
        if file.is_file() and sha256_of(file) == record.weights:
            continue
        try:
            content = source.weights(record)
        except CorruptFileError:
            damaged.append(record.id)
            continue
        with atomic_path(file) as temporary:
            temporary.write_bytes(content)
        copied.append(record.id)
    return tuple(copied), tuple(damaged)
