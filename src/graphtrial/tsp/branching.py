"""Strong branching: choice of the edge variable to branch on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.tsp.relaxation import Relaxation

Array = npt.NDArray[Any]

CANDIDATES = 10
STEPS = 50
"""Candidate variables, and simplex iterations for each of their two branches."""


def strong_branching(lp: Relaxation, fixed: Array, target: int) -> int | None:
    """Return the fractional edge whose two branches raise the bound most after a few simplex iterations.

    `fixed` [pairs] are the variables fixed so far (1, -1, 0 for free); gains are capped at `target`, above which a
    subproblem is pruned. Returns None for an integral solution.
    """
    fractional = np.flatnonzero((lp.x > 1e-6) & (lp.x < 1 - 1e-6))
    if not len(fractional):
        return None
    index = np.full((lp.n, lp.n), -1)
    index[lp.pair_u, lp.pair_v] = np.arange(len(lp.pair_u))
    x, cost = lp.x[fractional], lp.distance[lp.u, lp.v][fractional]
    priority = np.minimum(x, 1 - x) * np.sqrt(cost)
    base, best, choice = lp.bound(fixed)[0], -1.0, -1
    for column in fractional[np.argsort(-priority, kind="stable")[:CANDIDATES]]:
        pair = index[lp.u[column], lp.v[column]]
        gains = []
        for value in (1, -1):
            branch = fixed.copy()
            branch[pair] = value
            status = lp.probe(int(column), max(0.0, float(value)), STEPS)
            gains.append(target if status == "infeasible" else lp.bound(branch, lp.probe_dual)[0] - base)
        score = max(1.0, min(gains)) * max(1.0, min(max(gains), target - base)) ** 0.3
        if score > best:
            best, choice = score, int(pair)
    return choice
