"""Newton steps on the free multipliers of an SVC dual, for problems on which SMO converges slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

Array = npt.NDArray[Any]

MAX_FREE = 400
"""Maximum number of free multipliers; beyond it the linear system costs more than the iterations it saves."""
MAX_STEPS = 4
"""Newton steps in a row; SMO identifies the active bounds faster."""
RIDGES = (1e-7, 1e-5, 1e-3)
"""Ridges relative to the mean diagonal; the first for which the Cholesky factorization succeeds is used."""


def newton_steps(kernel: Array, sign: Array, alpha: Array, neg_y_grad: Array, penalty: float) -> bool:
    """Take up to MAX_STEPS projected Newton steps on the free multipliers, in place; return whether any moved.

    Solves K d = neg_y_grad - b with sum d = 0 for the change d of y * alpha over the free examples. A step ends at the
    first bound; multipliers at a bound leave the free set. Every step decreases the objective. `alpha` and `neg_y_grad`
    are flat and modified; `kernel` [examples, examples or more].
    """
    free = np.flatnonzero((alpha > 0) & (alpha < penalty))
    moved = False
    for _ in range(MAX_STEPS):
        if not 2 <= len(free) <= MAX_FREE:
            break
        direction = _newton_direction(kernel[np.ix_(free, free)].astype(np.float64), neg_y_grad[free])
        if direction is None:
            break
        step = sign[free] * direction
        with np.errstate(divide="ignore", invalid="ignore"):
            step_limit = np.where(
                step > 0, (penalty - alpha[free]) / step, np.where(step < 0, -alpha[free] / step, np.inf)
            )
        fraction = min(1.0, float(step_limit.min()))
        alpha[free] += fraction * step
        neg_y_grad -= (fraction * direction) @ kernel[free]
        moved = moved or fraction > 0
        if fraction == 1.0:
            break
        stopped = step_limit <= fraction
        alpha[free[stopped]] = np.where(step[stopped] > 0, penalty, 0.0)
        free = free[~stopped]
    return moved


def _newton_direction(matrix: Array, neg_y_grad: Array) -> Array | None:
    ones = np.ones_like(neg_y_grad)
    for ridge in RIDGES:
        try:
            factor = linalg.cho_factor(matrix + ridge * np.diag(matrix).mean() * np.eye(len(matrix)), lower=True)
        except linalg.LinAlgError:
            continue
        to_level, one = linalg.cho_solve(factor, np.stack([neg_y_grad, ones], axis=1)).T
        direction = np.asarray(to_level - to_level.sum() / one.sum() * one)
        return direction if np.isfinite(direction).all() else None
    return None
