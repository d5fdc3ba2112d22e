"""C-support vector classification with a precomputed kernel: one-vs-one as in LIBSVM, for many values of C."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import exact
from graphtrial.core.errors import GraphTrialError
from graphtrial.svm.smo import SHRINK_INTERVAL, Problem, solve
from graphtrial.svm.smo_steps import submatrix

Array = npt.NDArray[Any]


class BinarySVC(NamedTuple):
    """One-vs-one classifier: sum of dual_coef * kernel over the support vectors `ids`, plus bias; > 0 is `first`."""

    first: int
    second: int
    ids: Array
    dual_coef: Array
    bias: float


class FittedSVC(NamedTuple):
    """Fitted classifier: majority vote of the one-vs-one classifiers; ties go to the first class."""

    gram: Array
    classes: Array
    binary: tuple[BinarySVC, ...]

    def predict(self, ids: Array) -> Array:
        """Return the predicted classes of these rows of the Gram matrix."""
        votes = np.zeros((len(ids), len(self.classes)), np.int64)
        for part in self.binary:
            won = _decisions(self.gram, ids, part.ids, part.dual_coef) + part.bias > 0
            votes[:, part.first] += won
            votes[:, part.second] += ~won
        return np.asarray(self.classes[votes.argmax(axis=1)])


class PrecomputedSVC:
    """Support vector classifier on the rows `ids` of a Gram matrix; kernel slices are shared by all values of C.

    `shrink_interval` is the number of SMO iterations between shrinking steps.
    """

    def __init__(self, gram: Array, ids: Array, y: Array, shrink_interval: int = SHRINK_INTERVAL) -> None:
        self.gram, self.shrink_interval = np.asarray(gram), shrink_interval
        self.classes = np.unique(y[ids])
        groups = [ids[y[ids] == each] for each in self.classes]
        self._pairs = [
            _BinaryProblem(self.gram, a, b, groups[a], groups[b]) for a, b in combinations(range(len(self.classes)), 2)
        ]

    def fit(self, penalty: float) -> FittedSVC:
        """Fit with the regularization parameter C = `penalty`."""
        return FittedSVC(
            self.gram, self.classes, tuple(pair.solve(penalty, self.shrink_interval) for pair in self._pairs)
        )


class _BinaryProblem:
    """Binary problem of two classes; the kernel is in single precision, as in LIBSVM's cache."""

    def __init__(self, gram: Array, first: int, second: int, positive: Array, negative: Array) -> None:
        self.first, self.second = first, second
        self.ids = np.concatenate([positive, negative])
        kernel = submatrix(gram, self.ids)
        if not np.isfinite(kernel).all():
            raise GraphTrialError("a Gram matrix has entries that are not finite, or too large for single precision")
        sign, diagonal = np.zeros(kernel.shape[1]), np.ones(kernel.shape[1])
        sign[: len(positive)], sign[len(positive) : len(self.ids)] = 1.0, -1.0
        diagonal[: len(self.ids)] = gram[self.ids, self.ids]
        self.problem = Problem.of(kernel, diagonal, sign)
        self.solutions: list[tuple[float, float, BinarySVC]] = []

    def solve(self, penalty: float, shrink_interval: int) -> BinarySVC:
        """Return the solution; one for another C that no multiplier ever reached is the same and is reused."""
        for other, highest, part in self.solutions:
            if highest < min(other, penalty):
                return part
        dual_coef, bias, highest = solve(self.problem, penalty, shrink_interval)
        coefficient = dual_coef * self.problem.sign.reshape(-1)[: len(dual_coef)]
        used = np.flatnonzero(coefficient)
        part = BinarySVC(self.first, self.second, self.ids[used], coefficient[used], bias)
        self.solutions.append((penalty, highest, part))
        return part


@exact
def _decisions(gram: Any, rows: Any, columns: Any, dual_coef: Any) -> Any:
    """Return the decision values, summed sequentially as in LIBSVM."""
    decisions = np.zeros(len(rows))
    for row in range(len(rows)):
        total = 0.0
        for at in range(len(columns)):
            total += dual_coef[at] * gram[rows[row], columns[at]]
        decisions[row] = total
    return decisions
