"""Cuts that a fractional point violates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.tsp.blossoms import candidates
from graphtrial.tsp.cuts import Cut, distinct, stacked, totals
from graphtrial.tsp.flows import components, light_cuts
from graphtrial.tsp.tightening import tighten

Array = npt.NDArray[Any]

VIOLATION = 0.01
"""What a cut must be short of its right-hand side to be worth a row."""
MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class Point:
    """A fractional point: its positive values and their edges, among n nodes."""

    n: int
    u: Array
    v: Array
    x: Array


def subtours(point: Point) -> list[Cut]:
    """Return violated subtour inequalities; if there is any, one is found."""
    label = components(point.n, point.u, point.v)
    if label.max() > 0:
        return _singles(label == np.arange(int(label.max()) + 1)[:, None])
    certain = point.x >= 1.0 - 1e-9
    label = components(point.n, point.u[certain], point.v[certain])
    k = int(label.max()) + 1
    if k < 3:
        return []
    weight = np.zeros((k, k))
    np.add.at(weight, (label[point.u], label[point.v]), point.x)
    weight += weight.T
    np.fill_diagonal(weight, 0.0)
    return _singles(light_cuts(weight, 2.0 - VIOLATION)[:, label])


def combs(point: Point, known: Sequence[Cut], seed: int, rounds: int) -> list[Cut]:
    """Return violated combs, the most violated first: of blossoms, of shrunk graphs, and of `known` ones, tightened."""
    inside, tooth = candidates(point.n, point.u, point.v, point.x, seed, rounds, MOST_CANDIDATES)
    old_inside, old_tooth = stacked([cut for cut in known if cut.teeth], point.n)
    plain = list(distinct(inside, tooth).values())
    inside, tooth = stacked(plain, point.n)
    inside, tooth = np.concatenate([inside, old_inside]), np.concatenate([tooth, old_tooth])
    tighten(point.n, point.u, point.v, point.x, inside, tooth)
    cuts = list({**{cut.key: cut for cut in plain}, **distinct(inside, tooth)}.values())
    if not cuts:
        return []
    least = np.array([cut.least for cut in cuts])
    short = least - totals(*stacked(cuts, point.n), point.u, point.v, point.x)
    order = np.argsort(-short / np.sqrt(least), kind="stable")
    return [cuts[place] for place in order if short[place] > VIOLATION]


def _singles(inside: Array) -> list[Cut]:
    return list(distinct(inside, np.full(inside.shape, -1, np.int16)).values())
