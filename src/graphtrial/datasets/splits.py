"""Ways to divide a set into train, val and test that no library's random numbers have a say in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import Split
from graphtrial.datasets.generators.draws import Draws

Array = npt.NDArray[Any]


def in_turn(sizes: Sequence[int]) -> Split:
    """Return the split into train, val and test of these sizes, one after the other."""
    train, val, test = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return Split(train, val, test)


def by_ratio(classes: Array, shares: Sequence[float], seed: int) -> Split:
    """Return a random split in these shares, every class in its share to within one."""
    if len(shares) != 3 or not all(0 < share < 1 for share in shares) or abs(sum(shares) - 1) > 1e-9:
        raise GraphTrialError(f"a split has three shares above 0 that sum to 1, such as 0.8/0.1/0.1, not {shares}")
    order = _dealt(classes, seed)
    part = np.empty(len(order), np.int64)
    for members in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        bounds = np.rint(np.cumsum(shares[:2]) * len(members))
        part[members] = np.searchsorted(bounds, np.arange(len(members)), side="right")
    return parts_as_given(part)


def folds(classes: Array, count: int, seed: int) -> list[Split]:
    """Return stratified folds: each tests one pile and validates on another, and every graph is tested once."""
    if count < 3:
        raise GraphTrialError(f"{count} folds leave no graphs to train on; ask for 3 at least")
    if len(classes) < count:
        raise GraphTrialError(f"{len(classes)} examples cannot be dealt out to {count} folds")
    pile = np.empty(len(classes), np.int64)
    pile[_dealt(classes, seed)] = np.arange(len(classes)) % count
    made = []
    for fold in range(count):
        test, val = pile == fold, pile == (fold + count // 2) % count
        made.append(Split(np.flatnonzero(~test & ~val), np.flatnonzero(val), np.flatnonzero(test)))
    return made


def parts_as_given(part: Array) -> Split:
    """Return the split of which each example says its part: 0 to train, 1 to validate, 2 to test, 3 for none."""
    return Split(*(np.flatnonzero(part == number) for number in range(3)))


def _dealt(classes: Array, seed: int) -> npt.NDArray[np.int64]:
    """Return all examples, class after class, in random order within each."""
    return np.lexsort((Draws(seed, 0).raw(len(classes)), classes))
