"""Merge the finished trials of several stores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import atomic_path, sha256_of
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.store.searches import load_searches, save_search

RESULT = ("status", "params", "epochs", "scores")
"""Fields in which two runs of one trial should agree."""


@dataclass(frozen=True)
class Merged:
    """Ids of the trials that were `copied`, and of those finished in both stores with `same` or `different` results.

    `weights`: trials whose weights were copied; `refused`: trials that are damaged in the source and were not copied;
    `damaged`: trials with damaged weights; `left`: number of unfinished trials, which are not copied.
    """

    copied: tuple[str, ...]
    same: tuple[str, ...]
    different: tuple[str, ...]
    weights: tuple[str, ...]
    refused: tuple[str, ...]
    damaged: tuple[str, ...]
    left: int


def merge(store: Store, other: Path) -> Merged:
    """Copy the finished trials of another store, with epochs, weights and searches, unless they are finished here too.

    The other store is opened read-only, and its trials are validated. Weights are copied first, each verified against
    its digest, then all trials in one transaction: a killed merge is completed by the next one, which also copies
    missing weights.
    """
    if not other.exists():
        raise GraphTrialError(f"there is no store {other}")
    if other.resolve() == store.path.resolve():
        raise GraphTrialError(f"{other} cannot be merged into itself")
    source = Store(other, read_only=True)
    searches = load_searches(source)
    finished = {record.id: record for record in store.trials() if record.is_finished}
    source_records, refused, left = [], [], 0
    for trial, record, _ in source.examine():
        if record is None:
            refused.append(trial)
        elif record.is_finished:
            source_records.append(record)
        else:
            left += 1
    new = [record for record in source_records if record.id not in finished]
    both = [record for record in source_records if record.id in finished]
    agrees = {
        record.id: all(getattr(finished[record.id], name) == getattr(record, name) for name in RESULT)
        for record in both
    }
    equal_weights = [record for record in both if record.weights and record.weights == finished[record.id].weights]
    weights, damaged = _copy_weights(source, store, [*new, *equal_weights])
    store.take(_with_epochs(source, new))
    for record in new:
        Checkpoint(store.checkpoint_file(record.id)).remove()
    present = {*finished, *(record.id for record in new)}
    for search in searches:
        if present.issuperset(search.tests):  # the paused trials of a search stay where they are
            save_search(store, search)
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
    """Copy weights that are missing or damaged in `target`; return the ids of copied and of damaged ones."""
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
