"""The dual problem of a support vector machine, solved by the steps of LIBSVM.

Sequential minimal optimisation with the working set of Fan, Chen and Lin 2005 (JMLR 6): the same pairs in the same
order and the same roundings as LIBSVM, so the same bits until examples are first left out; but the matrix is shared by
all penalties, a step looks at many examples at once, and what takes long is helped along by Newton's method.
"""

from __future__ import annotations

import logging
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphtrial.svm.newton import free_weights_moved
from graphtrial.svm.smo_steps import LANES, bias, look_again, moving, run, sliced

Array = npt.NDArray[Any]
logger = logging.getLogger(__name__)

PATIENCE = 1000
"""After so many steps examples that seem to have come to rest are left out for a while."""
SLOW = 8
"""After so many times as many steps, the free weights are moved all at once in between."""
MOST_STEPS = 10_000_000
"""After so many LIBSVM gives up as well, and what was found is used."""
WORTH = 0.8
"""They are left out if no larger share than this is left."""


class Problem(NamedTuple):
    r"""Minimise 1/2 sum_ij y_i y_j a_i a_j k_ij - sum_i a_i with 0 <= a_i <= C and sum_i y_i a_i = 0.

    `kernel` [examples, blocks, LANES] in single precision, `diagonal` in double; `sign` is y, or 0 where there is no
    example. `weight` is a, and `ahead` is y_i - sum_j y_j a_j k_ij.
    """

    kernel: Array
    diagonal: Array
    sign: Array
    weight: Array
    ahead: Array

    @classmethod
    def of(cls, kernel: Array, diagonal: Array, sign: Array) -> Problem:
        """Return a problem of which nothing is known yet; `kernel` [examples, a multiple of LANES]."""
        shape = (-1, LANES)
        kernel, sign = kernel.reshape(len(kernel), *shape), sign.reshape(shape)
        return cls(kernel, diagonal.reshape(shape), sign, np.zeros_like(sign), sign.copy())

    def part(self, ids: Array) -> Problem:
        """Return the problem in which the weights of all other examples stay as they are."""
        kernel = sliced(self.kernel.reshape(len(self.kernel), -1), ids)
        rest = (_filled(values.reshape(-1)[ids]) for values in self[1:])
        return Problem(kernel.reshape(len(ids), -1, LANES), *rest)


def solve(given: Problem, penalty: float, patience: int = PATIENCE) -> tuple[Array, float, float]:
    """Return the weights of all examples, the bias, and the highest value that any weight had on the way.

    With another penalty above that value no step would have been another. Examples whose weight rests at a bound are
    left out after `patience` steps; in the end all examples are looked at together. Where that is not soon, the weights
    between the bounds are moved all at once from time to time.
    """
    whole = given._replace(weight=np.zeros_like(given.sign), ahead=given.sign.copy())
    everything = np.arange(len(whole.kernel))
    now, ids, highest = whole, everything, 0.0
    for phase in count():
        done, reached = run(*now, penalty, patience)
        highest = max(highest, reached)
        if not done and phase >= SLOW:
            sign, weight, ahead = (values.reshape(-1)[: len(ids)] for values in now[2:])
            free_weights_moved(now.kernel.reshape(len(ids), -1)[:, : len(ids)], sign, weight, ahead, penalty)
            highest = max(highest, float(now.weight.max()))
        if now is not whole:
            whole.weight.reshape(-1)[ids] = now.weight.reshape(-1)[: len(ids)]
        if done and now is whole:
            break
        if phase * patience >= MOST_STEPS:
            logger.warning("a support vector machine with penalty %g was not solved in %d steps", penalty, MOST_STEPS)
            look_again(whole.kernel, whole.sign, whole.weight, whole.ahead)
            break
        if done:
            look_again(whole.kernel, whole.sign, whole.weight, whole.ahead)
            now, ids = whole, everything
            continue
        kept = np.flatnonzero(moving(now.sign, now.weight, now.ahead, penalty).reshape(-1)[: len(ids)])
        if 1 < len(kept) <= WORTH * len(ids):
            now, ids = now.part(kept), ids[kept]
    return whole.weight.reshape(-1)[: len(everything)], bias(whole.ahead, whole.sign, whole.weight, penalty), highest


def _filled(values: Array) -> Array:
    """Return values in whole blocks; what is filled up has sign 0 and is never looked at."""
    made = np.zeros(-(-len(values) // LANES) * LANES)
    made[: len(values)] = values
    return made.reshape(-1, LANES)
