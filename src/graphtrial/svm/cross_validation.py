"""Model selection of support vector machines on one fold of a cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.svm import LinearSVC

from graphtrial.core.errors import GraphTrialError
from graphtrial.svm.folds import Fold, Ids
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.svm.svc import PrecomputedSVC

Matrix = Any
"""A dense Gram matrix [graphs, graphs] or sparse features [graphs, features]."""


class Predictor(Protocol):
    """Interface of a fitted machine; graphs are given by their index."""

    def predict(self, ids: Ids) -> npt.NDArray[Any]:
        """Return the class of each of these graphs."""


@dataclass(frozen=True)
class Selection:
    """The selected matrix and penalty, and accuracies in percent: of the selected machine, and of all candidates."""

    matrix: int
    penalty: float
    scores: dict[str, float]
    validation: tuple[tuple[float, ...], ...]
    """Validation accuracy of each matrix and each penalty."""


def select_and_test(matrices: Sequence[Matrix], y: npt.NDArray[Any], fold: Fold, rules: KernelFoldRules) -> Selection:
    """Fit a machine for each matrix and penalty, select the first best on the validation set, and test it.

    The test set is predicted once, by the selected machine; with `refit` it is fitted to training and validation set
    before, and the validation score is that of its selection.
    """
    solver = _fit_linear if rules.machine == "linear" else _fit_precomputed
    accuracies: list[tuple[float, ...]] = []
    best: tuple[float, int, float] | None = None
    machine: Predictor | None = None
    for number, matrix in enumerate(matrices):
        row = []
        fit = solver(matrix, fold.train, y)
        for penalty in rules.penalties:
            fitted = fit(penalty)
            row.append(_accuracy(fitted, y, fold.val))
            if best is None or row[-1] > best[0]:
                best, machine = (row[-1], number, penalty), fitted
        accuracies.append(tuple(row))
    if best is None or machine is None:
        raise GraphTrialError("there is no matrix to choose from")
    validated, number, penalty = best
    if rules.refit:
        train = np.sort(np.concatenate([fold.train, fold.val]))
        machine = solver(matrices[number], train, y)(penalty)
        scores = {"train": _accuracy(machine, y, train), "val": validated, "test": _accuracy(machine, y, fold.test)}
    else:
        scores = {part: _accuracy(machine, y, ids) for part, ids in fold._asdict().items()}
    return Selection(number, penalty, scores, tuple(accuracies))


@dataclass(frozen=True)
class _Linear:
    """A fitted LIBLINEAR machine with the features of all graphs."""

    machine: LinearSVC
    features: Matrix

    def predict(self, ids: Ids) -> npt.NDArray[Any]:
        return np.asarray(self.machine.predict(self.features[ids]))


def _fit_precomputed(gram: Matrix, train: Ids, y: npt.NDArray[Any]) -> Callable[[float], Predictor]:
    return PrecomputedSVC(gram, train, y).fit


def _fit_linear(features: Matrix, train: Ids, y: npt.NDArray[Any]) -> Callable[[float], Predictor]:
    fitted = features[train]
    return lambda penalty: _Linear(LinearSVC(C=penalty, tol=1e-2, dual=False).fit(fitted, y[train]), features)


def _accuracy(machine: Predictor, y: npt.NDArray[Any], ids: Ids) -> float:
    return 100.0 * float((machine.predict(ids) == y[ids]).mean())
