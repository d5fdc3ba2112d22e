"""Support vector machines on a Gram matrix: one against one, as in LIBSVM, for many penalties."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import exact
from graphtrial.core.errors import GraphTrialError
from graphtrial.svm.smo import PATIENCE, Problem, solve
from graphtrial.svm.smo_steps import sliced

Array = npt.NDArray[Any]


class Part(NamedTuple):
    """What tells two classes apart: the sum of weight * kernel over some graphs, and a bias; above 0 is the first."""

    first: int
    second: int
    ids: Array
    weight: Array
    bias: float


class Machine(NamedTuple):
    """A fitted machine; every two classes vote, and of classes with equally many votes the first is predicted."""

    gram: Array
    classes: Array
    parts: tuple[Part, ...]

    def predict(self, ids: Array) -> Array:
        """Return the class of each of these graphs, given by their rows of the Gram matrix."""
        votes = np.zeros((len(ids), len(self.classes)), np.int64)
        for part in self.parts:
            won = _decisions(self.gram, ids, part.ids, part.weight) + part.bias > 0
            votes[:, part.first] += won
            votes[:, part.second] += ~won
        return np.asarray(self.classes[votes.argmax(axis=1)])


class Trainer:
    """The graphs to fit to, with what is needed of their Gram matrix sliced once for all penalties."""

    def __init__(self, gram: Array, ids: Array, y: Array, patience: int = PATIENCE) -> None:
        self.gram, self.patience = np.asarray(gram), patience
        self.classes = np.unique(y[ids])
        groups = [ids[y[ids] == shown] for shown in self.classes]
        self._pairs = [
            _Pair(self.gram, a, b, groups[a], groups[b]) for a, b in combinations(range(len(self.classes)), 2)
        ]

    def fit(self, penalty: float) -> Machine:
        """Return the machine with this penalty of errors."""
        return Machine(self.gram, self.classes, tuple(pair.solve(penalty, self.patience) for pair in self._pairs))


class _Pair:
    """Two classes and the kernel between their graphs, in the single precision of LIBSVM's cache."""

    def __init__(self, gram: Array, first: int, second: int, positive: Array, negative: Array) -> None:
        self.first, self.second = first, second
        self.ids = np.concatenate([positive, negative])
        kernel = sliced(gram, self.ids)
        if not np.isfinite(kernel).all():
            raise GraphTrialError("a Gram matrix has entries that are not finite, or too large for single precision")
        sign, diagonal = np.zeros(kernel.shape[1]), np.ones(kernel.shape[1])
        sign[: len(positive)], sign[len(positive) : len(self.ids)] = 1.0, -1.0
        diagonal[: len(self.ids)] = gram[self.ids, self.ids]
        self.problem = Problem.of(kernel, diagonal, sign)
        self.known: list[tuple[float, float, Part]] = []

    def solve(self, penalty: float, patience: int) -> Part:
        """Return the solution; one of another penalty that no weight ever reached is the same."""
        for other, highest, part in self.known:
            if highest < min(other, penalty):
                return part
        weight, bias, highest = solve(self.problem, penalty, patience)
        coefficient = weight * self.problem.sign.reshape(-1)[: len(weight)]
        used = np.flatnonzero(coefficient)
        part = Part(self.first, self.second, self.ids[used], coefficient[used], bias)
        self.known.append((penalty, highest, part))
        return part


@exact
def _decisions(gram: Any, rows: Any, columns: Any, weight: Any) -> Any:
    """Return the weighted sums of some columns, added one after the other as LIBSVM does."""
    made = np.zeros(len(rows))
    for row in range(len(rows)):
        total = 0.0
        for at in range(len(columns)):
            total += weight[at] * gram[rows[row], columns[at]]
        made[row] = total
    return made
