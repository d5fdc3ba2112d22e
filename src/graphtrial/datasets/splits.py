"""Consecutive, stratified random and k-fold splits, reproducible with every version of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import Split
from graphtrial.datasets.generators.draws import Draws

Array = npt.NDArray[Any]


def consecutive_split(sizes: Sequence[int]) -> Split:
    """Split consecutive indices into train, val and test of these sizes."""
    train, val, test = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return Split(train, val, test)


def stratified_split(classes: Array, fractions: Sequence[float], seed: int) -> Split:
    """Return a random split with these fractions of each class, to within one example."""
    if len(fractions) != 3 or not all(0 < part < 1 for part in fractions) or abs(sum(fractions) - 1) > 1e-9:
        raise GraphTrialError(f"a split has three fractions above 0 that sum to 1: 0.8/0.1/0.1, not {fractions}")
    order = _shuffled_by_class(classes, seed)
    part = np.empty(len(order), np.int64)
    for members in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        bounds = np.rint(np.cumsum(fractions[:2]) * len(members))
        part[members] = np.searchsorted(bounds, np.arange(len(members)), side="right")
    return split_from_parts(part)


def stratified_folds(classes: Array, count: int, seed: int) -> list[Split]:
    """Stratified k-fold cross-validation: each fold is the test set once and the validation set once."""
    if count < 3:
        raise GraphTrialError(f"{count} folds leave no graphs to train on; use at least 3")
    if len(classes) < count:
        raise GraphTrialError(f"{len(classes)} examples are too few for {count} folds")
    fold_of = np.empty(len(classes), np.int64)
    fold_of[_shuffled_by_class(classes, seed)] = np.arange(len(classes)) % count
    splits = []
    for fold in range(count):
        test, val = fold_of == fold, fold_of == (fold + count // 2) % count
        splits.append(Split(np.flatnonzero(~test & ~val), np.flatnonzero(val), np.flatnonzero(test)))
    return splits


def split_from_parts(part: Array) -> Split:
    """Return the split encoded per example: 0 train, 1 val, 2 test, 3 unused."""
    return Split(*(np.flatnonzero(part == number) for number in range(3)))


def _shuffled_by_class(classes: Array, seed: int) -> npt.NDArray[np.int64]:
    """Return the indices sorted by class and shuffled within each class."""
    return np.lexsort((Draws(seed, 0).raw(len(classes)), classes))
