"""Run stored trials again from their specification and compare the results."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import AUTOMATIC, Compute
from graphtrial.execution.executor import Listener, run_trials
from graphtrial.training.outcome import MIXED_DEVICES, Epoch
from graphtrial.trials.environment import BATCHED_TRIALS, DEVICE_FIELDS, NUMERICS_KEY
from graphtrial.trials.provenance import check_plugins
from graphtrial.trials.store import Store, TrialRecord

Verdict = Literal["same bits", "within tolerance", "differs", "no result"]
TOLERANCE = 0.05
"""Relative tolerance of scores where versions differ: training amplifies rounding differences."""
COMPARED = ("epoch", "lr", "train_loss", "val_loss", "val_score")
"""Fields of an epoch that must be equal; its seconds are not compared."""
VERSIONS = ("python", "system", "machine", "cpu", "packages", "code", NUMERICS_KEY, BATCHED_TRIALS, *DEVICE_FIELDS)
"""Fields of an environment that may change the rounding of a result."""


@dataclass(frozen=True)
class Reproduction:
    """Comparison of two runs of a trial: verdict, reason, scores before and after, differences of the environments."""

    trial: str
    verdict: Verdict
    reason: str
    before: dict[str, float]
    after: dict[str, float]
    epochs: int
    changed: dict[str, tuple[Any, Any]]

    @property
    def holds(self) -> bool:
        """Whether the stored result is reproduced."""
        return self.verdict in ("same bits", "within tolerance")


def reproduce(
    records: Sequence[TrialRecord],
    store: Store,
    folder: Path,
    *,
    workers: int | None = 0,
    tolerance: float = TOLERANCE,
    listener: Listener = lambda progress: None,
    compute: Compute = AUTOMATIC,
) -> list[Reproduction]:
    """Run finished trials of a store again, in a new store in `folder`, and compare.

    An interrupted call is resumed; after a complete one, all trials are run again.
    """
    for record in records:
        if not record.is_finished:
            raise GraphTrialError(f"trial {record.id} has no result to compare with: its status is {record.status}")
        check_plugins(record.spec)  # before anything runs
    before = {record.id: store.history(record.id) for record in records}  # verified before anything runs
    again = Store(folder / "store.sqlite")
    if sum(record.is_finished for record in again.trials([r.id for r in records])) == len(records):
        again = _cleared(again, records)
    run_trials([record.spec for record in records], again, workers=workers, listener=listener, compute=compute)
    now = {record.id: record for record in again.trials()}
    return [
        compare(record, before[record.id], now[record.id], again.history(record.id), tolerance) for record in records
    ]


def compare(
    before: TrialRecord, old: Sequence[Epoch], after: TrialRecord, new: Sequence[Epoch], tolerance: float
) -> Reproduction:
    """Compare a stored trial with another run of it.

    Epochs, scores and parameter counts should be bitwise equal. If they differ, and versions, code or machine differ as
    well, each score must be within the relative `tolerance`; with equal environments any difference is a failure. Two
    kinds of devices, or a trial that moved between some, are always compared within the tolerance.
    """
    changed = changes(before.environment, after.environment)
    mixed = MIXED_DEVICES in before.details or MIXED_DEVICES in after.details
    if mixed:
        changed["device"] = (before.device, after.device)

    def reproduction(verdict: Verdict, reason: str) -> Reproduction:
        return Reproduction(before.id, verdict, reason, before.scores, after.scores, len(new), changed)

    if not after.is_finished:
        return reproduction(
            "no result", f"the second run ended as {after.status}: {(after.error or '').strip()[-400:]}"
        )
    first = first_difference(old, new)
    same_bits = first is None and before.scores == after.scores and before.params == after.params
    if same_bits and "device" not in changed:
        return reproduction("same bits", f"{len(new)} epochs and {len(after.scores)} scores are bitwise equal")
    where = "the scores" if first is None else f"epoch {first}"
    if not changed and "time" not in (before.status, after.status):
        return reproduction("differs", f"{where} differ though code, versions and machine are the same")
    beyond = [part for part in before.scores if not _near(before.scores[part], after.scores.get(part), tolerance)]
    why = "the time limit ended it" if not changed else f"{', '.join(changed)} changed"
    if "device" in changed:
        why = f"{why}; {before.device} and {after.device} round differently"
    if beyond or not before.scores:
        parts = ", ".join(beyond) or "the status"
        return reproduction("differs", f"from {where} on, and by more than {tolerance:.0%} in {parts} ({why})")
    bits = "the bits of different devices are not compared" if same_bits else f"bits differ from {where} on"
    return reproduction("within tolerance", f"{bits} ({why}); every score is within {tolerance:.0%}")


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the differing `VERSIONS` of two environments by name, before and after."""
    flat_before, flat_after = _flat(before), _flat(after)
    names = sorted({*flat_before, *flat_after})
    return {
        name: (flat_before.get(name), flat_after.get(name))
        for name in names
        if flat_before.get(name) != flat_after.get(name)
    }


def first_difference(old: Sequence[Epoch], new: Sequence[Epoch]) -> int | None:
    """Return the number of the first epoch that differs, or `None`."""
    for a, b in zip(old, new, strict=False):
        if any(getattr(a, name) != getattr(b, name) for name in COMPARED):
            return a.epoch
    return None if len(old) == len(new) else min(len(old), len(new)) + 1


def _cleared(store: Store, records: Sequence[TrialRecord]) -> Store:
    """Delete a store with the folders of these trials, and create an empty one; other files in the folder stay."""
    for record in records:
        shutil.rmtree(store.trial_folder(record.id), ignore_errors=True)
    store.path.unlink()
    return Store(store.path)


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    packages: dict[str, Any] = values.get("packages", {})
    recorded = {name: values[name] for name in VERSIONS if name in values and name != "packages"}
    return {"device": "cpu", NUMERICS_KEY: 1, **recorded, **packages}


def _near(before: float, after: float | None, tolerance: float) -> bool:
    return after is not None and abs(after - before) <= tolerance * abs(before)
