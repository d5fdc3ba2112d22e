"""Folds of a cross-validation, drawn by NumPy alone."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

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


def draw_fold(examples: int, rules: CrossValidation, *, fold: int, seed: int) -> Fold:
    """Draw one fold of a shuffled k-fold cross-validation; the seed decides everything.

    The same as scikit-learn's `KFold(folds, shuffle=True, random_state=seed)` followed by
    `train_test_split(rest, test_size=validation, random_state=seed * folds + fold)`, index by index.
    """
    folds = rules.folds
    if not 0 <= fold < folds:
        raise GraphTrialError(f"there are folds 0 to {folds - 1}; there is no fold {fold}")
    if examples < folds:
        raise GraphTrialError(f"{examples} graphs cannot be divided into {folds} folds")
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
