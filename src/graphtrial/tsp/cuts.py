"""Inequalities that every tour obeys: subtours, and combs, of which blossoms are a kind.

A cut is a family of point sets and a right-hand side: the sum of x over the edges leaving a set, summed over the sets,
is at least that. A single set has 2: a tour enters and leaves it. A comb, a handle and an odd number t of disjoint
teeth, each with points inside and outside of the handle, has 3t + 1 (Chvatal 1973; Groetschel, Padberg 1979).
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
    """Labels of the points: in the handle (or the single set) or not, and the number of the tooth, -1 for none."""

    inside: Array
    tooth: Array
    teeth: int
    key: bytes

    @property
    def least(self) -> int:
        """The right-hand side."""
        return 3 * self.teeth + 1 if self.teeth else 2


def distinct(inside: Array, tooth: Array) -> dict[bytes, Cut]:
    """Return the cuts with these labels [cuts, n], each once, by keys that are equal for equal cuts."""
    _renumber(inside, tooth)
    bits, teeth = np.packbits(inside, axis=1), tooth.max(axis=1, initial=-1) + 1
    cuts = {}
    for row in range(len(inside)):
        key = bits[row].tobytes() + tooth[row].tobytes()
        if key not in cuts:
            cuts[key] = Cut(inside[row], tooth[row], int(teeth[row]), key)
    return cuts


def stacked(cuts: Sequence[Cut], n: int) -> tuple[Array, Array]:
    """Return the labels of all cuts, [cuts, n] each."""
    if not cuts:
        return np.zeros((0, n), np.bool_), np.zeros((0, n), np.int16)
    return np.stack([cut.inside for cut in cuts]), np.stack([cut.tooth for cut in cuts])


@compiled
def _renumber(inside: Array, tooth: Array) -> None:
    """Number teeth by their first points, and let point 0 be outside: crossing a set is crossing its complement."""
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
    """Return how many sets of a cut the edge ab crosses."""
    count = int(inside[a] != inside[b])
    if tooth[a] != tooth[b]:
        count += int(tooth[a] >= 0) + int(tooth[b] >= 0)
    return count


@compiled
def coefficients(inside: Array, tooth: Array, u: Array, v: Array) -> Array:
    """Return how many sets of each cut each edge crosses [cuts, edges]."""
    out = np.empty((len(inside), len(u)), np.int8)
    for cut in range(len(inside)):
        for e in range(len(u)):
            out[cut, e] = crossed(inside[cut], tooth[cut], u[e], v[e])
    return out


@compiled
def totals(inside: Array, tooth: Array, u: Array, v: Array, x: Array) -> Array:
    """Return the left-hand side of each cut [cuts] at a point."""
    out = np.zeros(len(inside))
    for cut in range(len(inside)):
        for e in range(len(u)):
            out[cut] += x[e] * crossed(inside[cut], tooth[cut], u[e], v[e])
    return out


@compiled
def reduced_costs(cost: Array, node: Array, weight: Array, inside: Array, tooth: Array, u: Array, v: Array) -> Array:
    """Return cost minus what the multipliers of points and cuts pay for, in integers [edges]."""
    out = np.empty(len(u), np.int64)
    for e in range(len(u)):
        a, b = u[e], v[e]
        left = cost[e] - node[a] - node[b]
        for cut in range(len(weight)):
            left -= weight[cut] * crossed(inside[cut], tooth[cut], a, b)
        out[e] = left
    return out
