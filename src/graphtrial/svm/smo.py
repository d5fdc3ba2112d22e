"""Sequential minimal optimization (SMO) of the C-SVC dual problem, as in LIBSVM.

Working set selection of Fan, Chen and Lin 2005 (JMLR 6, second order information), with LIBSVM's order and rounding:
bitwise equal to LIBSVM until the first shrinking. The kernel matrix is shared by all values of C, iterations are
vectorised over the examples, and slow problems are accelerated by Newton steps.
"""

from __future__ import annotations

import logging
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphtrial.svm.newton import newton_steps
from graphtrial.svm.smo_steps import LANES, active_set, bias, reconstruct_gradient, run, submatrix

Array = npt.NDArray[Any]
logger = logging.getLogger(__name__)

SHRINK_INTERVAL = 1000
"""SMO iterations between shrinking steps."""
SLOW = 8
"""After `SLOW * shrink_interval` iterations, interleave Newton steps on the free multipliers."""
MAX_ITERATIONS = 10_000_000
"""Iteration limit, as in LIBSVM; the multipliers reached by then are used."""
SHRINK_FRACTION = 0.8
"""Shrink only if at most this fraction of the active set remains."""


class Problem(NamedTuple):
    r"""Dual problem: minimize 1/2 sum_ij y_i y_j a_i a_j k_ij - sum_i a_i s.t. 0 <= a_i <= C, sum_i y_i a_i = 0.

    `kernel` [examples, blocks, LANES] in single precision, `diagonal` in double; `sign` is y, or 0 for padding;
    `alpha` are the multipliers, and `neg_y_grad` is -y_i times the gradient: y_i - sum_j y_j a_j k_ij.
    """

    kernel: Array
    diagonal: Array
    sign: Array
    alpha: Array
    neg_y_grad: Array

    @classmethod
    def of(cls, kernel: Array, diagonal: Array, sign: Array) -> Problem:
        """Return a problem with all multipliers 0; `kernel` [examples, a multiple of LANES]."""
        shape = (-1, LANES)
        kernel, sign = kernel.reshape(len(kernel), *shape), sign.reshape(shape)
        return cls(kernel, diagonal.reshape(shape), sign, np.zeros_like(sign), sign.copy())

    def shrink(self, ids: Array) -> Problem:
        """Return the problem restricted to the active set `ids`; all other multipliers are fixed."""
        kernel = submatrix(self.kernel.reshape(len(self.kernel), -1), ids)
        rest = (_pad(values.reshape(-1)[ids]) for values in self[1:])
        return Problem(kernel.reshape(len(ids), -1, LANES), *rest)


def solve(given: Problem, penalty: float, shrink_interval: int = SHRINK_INTERVAL) -> tuple[Array, float, float]:
    """Return the multipliers of all examples, the bias, and the largest value of any multiplier during optimization.

    For every C above that value the iterations are the same. Examples whose multipliers are at a bound are shrunk every
    `shrink_interval` iterations; at the end the gradient is reconstructed and optimality checked on all examples.
    """
    whole = given._replace(alpha=np.zeros_like(given.sign), neg_y_grad=given.sign.copy())
    everything = np.arange(len(whole.kernel))
    current, ids, highest = whole, everything, 0.0
    for phase in count():
        solved, reached = run(*current, penalty, shrink_interval)
        highest = max(highest, reached)
        if not solved and phase >= SLOW:
            sign, alpha, neg_y_grad = (values.reshape(-1)[: len(ids)] for values in current[2:])
            newton_steps(current.kernel.reshape(len(ids), -1)[:, : len(ids)], sign, alpha, neg_y_grad, penalty)
            highest = max(highest, float(current.alpha.max()))
        if current is not whole:
            whole.alpha.reshape(-1)[ids] = current.alpha.reshape(-1)[: len(ids)]
        if solved and current is whole:
            break
        if phase * shrink_interval >= MAX_ITERATIONS:
            logger.warning("SVC with penalty %g did not converge in %d iterations", penalty, MAX_ITERATIONS)
            reconstruct_gradient(whole.kernel, whole.sign, whole.alpha, whole.neg_y_grad)
            break
        if solved:
            reconstruct_gradient(whole.kernel, whole.sign, whole.alpha, whole.neg_y_grad)
            current, ids = whole, everything
            continue
        active = np.flatnonzero(
            active_set(current.sign, current.alpha, current.neg_y_grad, penalty).reshape(-1)[: len(ids)]
        )
        if 1 < len(active) <= SHRINK_FRACTION * len(ids):
            current, ids = current.shrink(active), ids[active]
    return whole.alpha.reshape(-1)[: len(everything)], bias(whole.neg_y_grad, whole.sign, whole.alpha, penalty), highest


def _pad(values: Array) -> Array:
    """Pad with zeros to a multiple of LANES and reshape to [blocks, LANES]; padding has sign 0 and is ignored."""
    padded = np.zeros(-(-len(values) // LANES) * LANES)
    padded[: len(values)] = values
    return padded.reshape(-1, LANES)
