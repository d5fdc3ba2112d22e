"""Which pair of points to decide next."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.tsp.relaxation import Relaxation

Array = npt.NDArray[Any]

CANDIDATES = 10
STEPS = 50
"""How many pairs are tried, and the simplex steps for each of the two decisions."""


def choose(lp: Relaxation, decided: Array, target: int) -> int | None:
    """Return the pair whose decision either way raises the bound most after a few simplex steps: strong branching.

    `decided` [pairs] is what was decided before; a bound above `target` ends a subproblem, and more is worth no more.
    Nothing is returned where the last solution is whole.
    """
    fractional = np.flatnonzero((lp.x > 1e-6) & (lp.x < 1 - 1e-6))
    if not len(fractional):
        return None
    index = np.full((lp.n, lp.n), -1)
    index[lp.pair_u, lp.pair_v] = np.arange(len(lp.pair_u))
    x, cost = lp.x[fractional], lp.distance[lp.u, lp.v][fractional]
    promise = np.minimum(x, 1 - x) * np.sqrt(cost)
    base, best, choice = lp.bound(decided)[0], -1.0, -1
    for column in fractional[np.argsort(-promise, kind="stable")[:CANDIDATES]]:
        pair = index[lp.u[column], lp.v[column]]
        gains = []
        for value in (1, -1):
            tried = decided.copy()
            tried[pair] = value
            status = lp.trial(int(column), max(0.0, float(value)), STEPS)
            gains.append(target if status == "infeasible" else lp.bound(tried, lp.tried)[0] - base)
        score = max(1.0, min(gains)) * max(1.0, min(max(gains), target - base)) ** 0.3
        if score > best:
            best, choice = score, int(pair)
    return choice
