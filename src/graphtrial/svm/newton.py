"""The free weights of a support vector machine all at once, where steps of two would take very many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

Array = npt.NDArray[Any]

MOST = 400
"""Free weights; beyond these a linear system costs more than the steps it saves."""
MOVES = 4
"""At once; steps of two find out faster which weights come to rest at a bound."""
RIDGES = (1e-7, 1e-5, 1e-3)
"""Added to the diagonal, relative to its mean, the first that makes the matrix of alike graphs solvable."""


def free_weights_moved(kernel: Array, sign: Array, weight: Array, ahead: Array, penalty: float) -> bool:
    """Move all weights between the bounds to where they would be best if there were no bounds, as far as there are.

    Solves K d = ahead - b with sum d = 0 for the change d of y a over the free examples; a weight that reaches a bound
    on the way stays there, and the others go on. Every move lowers the objective. `weight` and `ahead` are changed;
    flat arrays, `kernel` [examples, examples or more]. Returns whether anything moved.
    """
    free = np.flatnonzero((weight > 0) & (weight < penalty))
    moved = False
    for _ in range(MOVES):
        if not 2 <= len(free) <= MOST:
            break
        change = _best_change(kernel[np.ix_(free, free)].astype(np.float64), ahead[free])
        if change is None:
            break
        step = sign[free] * change
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, (penalty - weight[free]) / step, np.where(step < 0, -weight[free] / step, np.inf))
        share = min(1.0, float(room.min()))
        weight[free] += share * step
        ahead -= (share * change) @ kernel[free]
        moved = moved or share > 0
        if share == 1.0:
            break
        stopped = room <= share
        weight[free[stopped]] = np.where(step[stopped] > 0, penalty, 0.0)
        free = free[~stopped]
    return moved


def _best_change(matrix: Array, ahead: Array) -> Array | None:
    ones = np.ones_like(ahead)
    for ridge in RIDGES:
        try:
            factor = linalg.cho_factor(matrix + ridge * np.diag(matrix).mean() * np.eye(len(matrix)), lower=True)
        except linalg.LinAlgError:
            continue
        to_level, one = linalg.cho_solve(factor, np.stack([ahead, ones], axis=1)).T
        change = np.asarray(to_level - to_level.sum() / one.sum() * one)
        return change if np.isfinite(change).all() else None
    return None
