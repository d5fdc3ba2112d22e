"""Folds of a cross-validation, drawn by NumPy alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError

Ids = npt.NDArray[np.int64]
SEEDS = 2**32
"""`RandomState` takes seeds below this."""


class Fold(NamedTuple):
    """The training, validation and test examples of one fold."""

    train: Ids
    val: Ids
    test: Ids


class CrossValidation(Protocol):
    """Rules of a cross-validation, of kernels or of networks."""

    @property
    def folds(self) -> int:
        """The number of folds."""

    @property
    def validation(self) -> float:
        """Size of the validation set, as a fraction of the examples outside the test fold."""

    @property
    def fold_seed(self) -> int | None:
        """Seed of stratified folds that are the same for every trial; none where the seed of a trial draws them."""


def nested_fold(classes: npt.NDArray[Any], rules: CrossValidation, *, fold: int, seed: int) -> Fold:
    """Draw one outer fold by `fold_seed`, and by the seed of the trial a stratified hold-out of the rest as validation.

    The same as the folds of scikit-learn's `StratifiedKFold(folds, shuffle=True, random_state=fold_seed)`, and as the
    first fold of `StratifiedKFold(round(1 / validation), shuffle=True, random_state=seed * folds + fold)` of the rest.
    """
    folds, inner = rules.folds, max(2, round(1 / rules.validation))
    _check_fold(len(classes), fold, folds)
    outer = _stratified_folds(classes, folds, rules.fold_seed or 0)
    rest = np.flatnonzero(outer != fold)
    if len(rest) < inner:
        raise GraphTrialError(f"{len(classes)} graphs in {folds} folds are too few for a validation set of the rest")
    held_out = _stratified_folds(classes[rest], inner, seed * folds + fold) == 0
    return Fold(rest[~held_out], rest[held_out], np.flatnonzero(outer == fold))


def _stratified_folds(classes: npt.NDArray[Any], folds: int, seed: int) -> Ids:
    """Return the fold of each example; the classes, in the order of their first example, are dealt out in turn."""
    _, first, inverse = np.unique(classes, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[inverse]
    ordered = np.sort(codes)
    sizes = np.stack([np.bincount(ordered[fold::folds], minlength=len(first)) for fold in range(folds)])
    generator = np.random.RandomState(seed % SEEDS)
    fold_of = np.empty(len(classes), np.int64)
    for code in range(len(first)):
        dealt = np.arange(folds).repeat(sizes[:, code])
        generator.shuffle(dealt)
        fold_of[codes == code] = dealt
    return fold_of


def _check_fold(examples: int, fold: int, folds: int) -> None:
    if not 0 <= fold < folds:
        raise GraphTrialError(f"there are folds 0 to {folds - 1}; there is no fold {fold}")
    if examples < folds:
        raise GraphTrialError(f"{examples} graphs cannot be divided into {folds} folds")


def draw_fold(examples: int, rules: CrossValidation, *, fold: int, seed: int) -> Fold:
    """Draw one fold of a shuffled k-fold cross-validation; the seed decides everything.

    The same as scikit-learn's `KFold(folds, shuffle=True, random_state=seed)` followed by
    `train_test_split(rest, test_size=validation, random_state=seed * folds + fold)`, index by index.
    """
    folds = rules.folds
    _check_fold(examples, fold, folds)
    shuffled = np.arange(examples)
    np.random.RandomState(seed % SEEDS).shuffle(shuffled)
    sizes = np.full(folds, examples // folds)
    sizes[: examples % folds] += 1
    first = sizes[:fold].sum()
    tested = np.zeros(examples, bool)
    tested[shuffled[first : first + sizes[fold]]] = True
    rest = np.flatnonzero(~tested)
    val = math.ceil(rules.validation * len(rest))
    if val >= len(rest):
        raise GraphTrialError(f"{examples} graphs in {folds} folds leave none to train on beside the validation set")
    order = np.random.RandomState((seed * folds + fold) % SEEDS).permutation(len(rest))
    return Fold(rest[order[val:]], rest[order[:val]], np.flatnonzero(tested))
