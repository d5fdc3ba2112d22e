"""Cross-validated support vector machines: one fold, its choices made on a validation part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, train_test_split
from sklearn.svm import LinearSVC

from graphtrial.core.errors import GraphTrialError
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.svm.svc import PrecomputedSVC

Ids = npt.NDArray[np.int64]
Matrix = Any
"""A dense Gram matrix [graphs, graphs] or sparse features [graphs, features]."""


class Fold(NamedTuple):
    """The graphs that are fitted, that choose, and that are tested."""

    train: Ids
    val: Ids
    test: Ids


class Frame(Protocol):
    """Rules of a cross-validation, of kernels or of networks."""

    @property
    def folds(self) -> int:
        """The number of folds."""

    @property
    def validation(self) -> float:
        """The share of what is not tested that chooses."""


class Predictor(Protocol):
    """A fitted machine that knows all graphs by number."""

    def predict(self, ids: Ids) -> npt.NDArray[Any]:
        """Return the class of each of these graphs."""


@dataclass(frozen=True)
class Choice:
    """What the validation part chose, and the accuracies in percent that it was chosen by and that it led to."""

    matrix: int
    penalty: float
    scores: dict[str, float]
    validation: tuple[tuple[float, ...], ...]
    """The accuracy on the validation part for each matrix and each penalty."""


def fold_of(graphs: int, rules: Frame, *, fold: int, seed: int) -> Fold:
    """Return one fold of a repetition: the seed decides everything."""
    if not 0 <= fold < rules.folds:
        raise GraphTrialError(f"there are folds 0 to {rules.folds - 1}; there is no fold {fold}")
    if graphs < rules.folds:
        raise GraphTrialError(f"{graphs} graphs cannot be divided into {rules.folds} folds")
    division = KFold(rules.folds, shuffle=True, random_state=seed % 2**32).split(np.zeros(graphs))
    rest, test = list(division)[fold]
    train, val = train_test_split(rest, test_size=rules.validation, random_state=(seed * rules.folds + fold) % 2**32)
    return Fold(train, val, test)


def choose_and_test(matrices: Sequence[Matrix], y: npt.NDArray[Any], fold: Fold, rules: KernelFoldRules) -> Choice:
    """Fit a machine for each matrix and penalty, choose by the validation part, and test the choice.

    Of equally good choices the first one is taken. The test part is looked at once, with the machine that was chosen.
    """
    found: list[tuple[float, ...]] = []
    best: tuple[float, int, float] | None = None
    machine: Predictor | None = None
    for number, matrix in enumerate(matrices):
        row = []
        fit = (
            _fit_linear(matrix, fold.train, y)
            if rules.machine == "linear"
            else PrecomputedSVC(matrix, fold.train, y).fit
        )
        for penalty in rules.penalties:
            fitted = fit(penalty)
            row.append(_accuracy(fitted, y, fold.val))
            if best is None or row[-1] > best[0]:
                best, machine = (row[-1], number, penalty), fitted
        found.append(tuple(row))
    if best is None or machine is None:
        raise GraphTrialError("there is no matrix to choose from")
    _, number, penalty = best
    scores = {part: _accuracy(machine, y, ids) for part, ids in fold._asdict().items()}
    return Choice(number, penalty, scores, tuple(found))


@dataclass(frozen=True)
class _Linear:
    """A fitted machine of LIBLINEAR with the features of all graphs."""

    machine: LinearSVC
    features: Matrix

    def predict(self, ids: Ids) -> npt.NDArray[Any]:
        return np.asarray(self.machine.predict(self.features[ids]))


def _fit_linear(features: Matrix, train: Ids, y: npt.NDArray[Any]) -> Callable[[float], Predictor]:
    fitted = features[train]
    return lambda penalty: _Linear(LinearSVC(C=penalty, tol=1e-2, dual=False).fit(fitted, y[train]), features)


def _accuracy(machine: Predictor, y: npt.NDArray[Any], ids: Ids) -> float:
    return 100.0 * float((machine.predict(ids) == y[ids]).mean())
