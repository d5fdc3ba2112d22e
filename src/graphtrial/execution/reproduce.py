"""Run a stored trial again by its specification, and compare what comes out with what came out before."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphtrial.core.errors import GraphTrialError
from graphtrial.execution.executor import Listener, run_trials
from graphtrial.training.outcome import Epoch
from graphtrial.trials.environment import BATCHED_TRIALS
from graphtrial.trials.provenance import check_plugins
from graphtrial.trials.store import Store, TrialRecord

Verdict = Literal["same bits", "within tolerance", "differs", "no result"]
TOLERANCE = 0.05
"""How far a score may be off where versions differ, as a share of it: training amplifies the last bit of a sum."""
COMPARED = ("epoch", "lr", "train_loss", "val_loss", "val_score")
"""What must be the same of an epoch; its seconds never are."""
VERSIONS = ("python", "system", "machine", "cpu", "packages", "code", BATCHED_TRIALS)
"""What of an environment may change the last bit of a result."""


@dataclass(frozen=True)
class Reproduction:
    """A trial then and now: the verdict and its reason in words, both test scores, and what differs around them."""

    trial: str
    verdict: Verdict
    reason: str
    before: dict[str, float]
    after: dict[str, float]
    epochs: int
    changed: dict[str, tuple[Any, Any]]

    @property
    def holds(self) -> bool:
        """The stored result stands."""
        return self.verdict in ("same bits", "within tolerance")


def reproduce(
    records: Sequence[TrialRecord],
    store: Store,
    folder: Path,
    *,
    workers: int | None = 0,
    tolerance: float = TOLERANCE,
    listener: Listener = lambda progress: None,
) -> list[Reproduction]:
    """Run finished trials of a store again, in a store of their own in `folder`, and compare.

    A call that was interrupted goes on where it stopped; after one that was not, everything is run anew.
    """
    for record in records:
        if not record.is_finished:
            raise GraphTrialError(f"trial {record.id} has no result to compare with: its status is {record.status}")
        check_plugins(record.spec)  # what has to be refused is not even begun
    before = {record.id: store.history(record.id) for record in records}  # damage is told before anything runs
    again = Store(folder / "store.sqlite")
    if sum(record.is_finished for record in again.trials([r.id for r in records])) == len(records):
        again = _emptied(again, records)
    run_trials([record.spec for record in records], again, workers=workers, listener=listener)
    now = {record.id: record for record in again.trials()}
    return [
        compare(record, before[record.id], now[record.id], again.history(record.id), tolerance) for record in records
    ]


def compare(
    before: TrialRecord, old: Sequence[Epoch], after: TrialRecord, new: Sequence[Epoch], tolerance: float
) -> Reproduction:
    """Compare a stored trial with another run of it.

    Equal bits of all epochs, scores and sizes are asked for first. Where they differ and versions, code or machine
    differ as well, each score must lie within `tolerance`, a share of the old one; where nothing differs that could
    explain it, it is a fault.
    """
    changed = changes(before.environment, after.environment)

    def told(verdict: Verdict, reason: str) -> Reproduction:
        return Reproduction(before.id, verdict, reason, before.scores, after.scores, len(new), changed)

    if not after.is_finished:
        return told("no result", f"the second run ended as {after.status}: {(after.error or '').strip()[-400:]}")
    parted = first_difference(old, new)
    if parted is None and before.scores == after.scores and before.params == after.params:
        return told("same bits", f"{len(new)} epochs and {len(after.scores)} scores are equal to the last bit")
    where = "the scores" if parted is None else f"epoch {parted}"
    if not changed and "time" not in (before.status, after.status):
        return told("differs", f"{where} differ though code, versions and machine are the same")
    apart = [part for part in before.scores if not _near(before.scores[part], after.scores.get(part), tolerance)]
    why = "the time limit ended it" if not changed else f"{', '.join(changed)} changed"
    if apart or not before.scores:
        what = ", ".join(apart) or "how it ended"
        return told("differs", f"from {where} on, and by more than {tolerance:.0%} in {what} ({why})")
    return told("within tolerance", f"bits differ from {where} on ({why}); every score is within {tolerance:.0%}")


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs between two environments that may change the last bit of a result, then and now."""
    flat_before, flat_after = _flat(before), _flat(after)
    names = sorted({*flat_before, *flat_after})
    return {
        name: (flat_before.get(name), flat_after.get(name))
        for name in names
        if flat_before.get(name) != flat_after.get(name)
    }


def first_difference(old: Sequence[Epoch], new: Sequence[Epoch]) -> int | None:
    """Return the number of the first epoch that is not the same, or nothing where all are."""
    for a, b in zip(old, new, strict=False):
        if any(getattr(a, name) != getattr(b, name) for name in COMPARED):
            return a.epoch
    return None if len(old) == len(new) else min(len(old), len(new)) + 1


def _emptied(store: Store, records: Sequence[TrialRecord]) -> Store:
    """Remove a store and what it kept of these trials, by their ids, and nothing else that may be in the folder."""
    for record in records:
        shutil.rmtree(store.trial_folder(record.id), ignore_errors=True)
    store.path.unlink()
    return Store(store.path)


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    packages = values.get("packages", {})
    return {name: values.get(name) for name in VERSIONS if name != "packages"} | dict(packages)


def _near(before: float, after: float | None, tolerance: float) -> bool:
    return after is not None and abs(after - before) <= tolerance * abs(before)
