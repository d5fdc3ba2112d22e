"""Separation: subtour and comb inequalities violated by a fractional LP solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.tsp.blossoms import comb_candidates
from graphtrial.tsp.cuts import Cut, distinct, left_hand_sides, stacked
from graphtrial.tsp.min_cut import components, stoer_wagner_cuts
from graphtrial.tsp.tightening import tighten

Array = npt.NDArray[Any]

VIOLATION = 0.01
"""Minimum violation of a cut to be added."""
MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class SupportGraph:
    """Support graph of an LP solution: edges u, v with values x > 0, among n nodes."""

    n: int
    u: Array
    v: Array
    x: Array


def subtours(graph: SupportGraph) -> list[Cut]:
    """Return violated subtour elimination constraints; exact: empty only if none is violated."""
    label = components(graph.n, graph.u, graph.v)
    if label.max() > 0:
        return _singles(label == np.arange(int(label.max()) + 1)[:, None])
    integral = graph.x >= 1.0 - 1e-9
    label = components(graph.n, graph.u[integral], graph.v[integral])
    k = int(label.max()) + 1
    if k < 3:
        return []
    weight = np.zeros((k, k))
    np.add.at(weight, (label[graph.u], label[graph.v]), graph.x)
    weight += weight.T
    np.fill_diagonal(weight, 0.0)
    return _singles(stoer_wagner_cuts(weight, 2.0 - VIOLATION)[:, label])


def combs(graph: SupportGraph, pool: Sequence[Cut], seed: int, rounds: int) -> list[Cut]:
    """Return violated combs, most violated first: blossoms of the support graph and its shrunk graphs, and `pool` cuts.

    All are tightened by local search.
    """
    inside, tooth = comb_candidates(graph.n, graph.u, graph.v, graph.x, seed, rounds, MOST_CANDIDATES)
    old_inside, old_tooth = stacked([cut for cut in pool if cut.teeth], graph.n)
    plain = list(distinct(inside, tooth).values())
    inside, tooth = stacked(plain, graph.n)
    inside, tooth = np.concatenate([inside, old_inside]), np.concatenate([tooth, old_tooth])
    tighten(graph.n, graph.u, graph.v, graph.x, inside, tooth)
    cuts = list({**{cut.key: cut for cut in plain}, **distinct(inside, tooth)}.values())
    if not cuts:
        return []
    rhs = np.array([cut.rhs for cut in cuts])
    violation = rhs - left_hand_sides(*stacked(cuts, graph.n), graph.u, graph.v, graph.x)
    order = np.argsort(-violation / np.sqrt(rhs), kind="stable")
    return [cuts[index] for index in order if violation[index] > VIOLATION]


def _singles(inside: Array) -> list[Cut]:
    return list(distinct(inside, np.full(inside.shape, -1, np.int16)).values())
