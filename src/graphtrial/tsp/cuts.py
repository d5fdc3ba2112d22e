"""Cutting planes: subtour elimination constraints and comb inequalities (blossoms are combs with two-node teeth).

A cut is a family of node sets S and a right-hand side: sum over S of x(delta(S)) >= rhs. A subtour elimination
constraint has one set and rhs 2. A comb has a handle and an odd number t of disjoint teeth, each with nodes inside and
outside the handle, and rhs 3t + 1 (Chvatal 1973; Groetschel, Padberg 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut as node labels [n]: membership in the handle (or the single set), and the tooth, -1 for none."""

    inside: Array
    tooth: Array
    teeth: int
    key: bytes

    @property
    def rhs(self) -> int:
        """Right-hand side."""
        return 3 * self.teeth + 1 if self.teeth else 2


def distinct(inside: Array, tooth: Array) -> dict[bytes, Cut]:
    """Return the distinct cuts with these labels [cuts, n], by canonical key."""
    _renumber(inside, tooth)
    bits, teeth = np.packbits(inside, axis=1), tooth.max(axis=1, initial=-1) + 1
    cuts = {}
    for row in range(len(inside)):
        key = bits[row].tobytes() + tooth[row].tobytes()
        if key not in cuts:
            cuts[key] = Cut(inside[row], tooth[row], int(teeth[row]), key)
    return cuts


def stacked(cuts: Sequence[Cut], n: int) -> tuple[Array, Array]:
    """Stack the labels of cuts, [cuts, n] each."""
    if not cuts:
        return np.zeros((0, n), np.bool_), np.zeros((0, n), np.int16)
    return np.stack([cut.inside for cut in cuts]), np.stack([cut.tooth for cut in cuts])


@compiled
def _renumber(inside: Array, tooth: Array) -> None:
    """Canonicalize labels: number teeth by their first nodes, and complement the handle so that node 0 is outside."""
    for cut in range(len(inside)):
        number, count = np.full(max(1, tooth[cut].max() + 1), -1, np.int16), 0
        flip = inside[cut, 0]
        for node in range(inside.shape[1]):
            inside[cut, node] ^= flip
            if tooth[cut, node] >= 0:
                if number[tooth[cut, node]] < 0:
                    number[tooth[cut, node]] = count
                    count += 1
                tooth[cut, node] = number[tooth[cut, node]]


@compiled
def crossed(inside: Array, tooth: Array, a: int, b: int) -> int:
    """Return the coefficient of edge ab: the number of sets of the cut it crosses."""
    count = int(inside[a] != inside[b])
    if tooth[a] != tooth[b]:
        count += int(tooth[a] >= 0) + int(tooth[b] >= 0)
    return count


@compiled
def coefficients(inside: Array, tooth: Array, u: Array, v: Array) -> Array:
    """Return the coefficients of the edges in each cut [cuts, edges]."""
    out = np.empty((len(inside), len(u)), np.int8)
    for cut in range(len(inside)):
        for e in range(len(u)):
            out[cut, e] = crossed(inside[cut], tooth[cut], u[e], v[e])
    return out


@compiled
def left_hand_sides(inside: Array, tooth: Array, u: Array, v: Array, x: Array) -> Array:
    """Return the left-hand side of each cut [cuts] at the solution x."""
    out = np.zeros(len(inside))
    for cut in range(len(inside)):
        for e in range(len(u)):
            out[cut] += x[e] * crossed(inside[cut], tooth[cut], u[e], v[e])
    return out


@compiled
def reduced_costs(cost: Array, node: Array, weight: Array, inside: Array, tooth: Array, u: Array, v: Array) -> Array:
    """Return integer reduced costs [edges]: cost minus the duals of the degree constraints and cuts."""
    out = np.empty(len(u), np.int64)
    for e in range(len(u)):
        a, b = u[e], v[e]
        left = cost[e] - node[a] - node[b]
        for cut in range(len(weight)):
            left -= weight[cut] * crossed(inside[cut], tooth[cut], a, b)
        out[e] = left
    return out
