"""Comb tightening: local search that increases the violation of combs by moving single nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled
from graphtrial.tsp.min_cut import csr_adjacency

Array = npt.NDArray[Any]
SWEEPS = 10


@compiled
def tighten(n: int, u: Array, v: Array, x: Array, inside: Array, tooth: Array) -> None:
    """Tighten combs [combs, n] in place: move single nodes between handle and teeth to decrease the left-hand side."""
    pointer, other, value = csr_adjacency(n, u, v, x)
    for comb in range(len(inside)):
        _tighten(pointer, other, value, inside[comb], tooth[comb])


@compiled
def _tighten(pointer: Array, other: Array, value: Array, inside: Array, tooth: Array) -> None:
    n = len(inside)
    # Number of nodes of each tooth outside and inside the handle: each must stay positive.
    atoms = np.zeros((tooth.max() + 1, 2), np.int64)
    for node in range(n):
        if tooth[node] >= 0:
            atoms[tooth[node], int(inside[node])] += 1
    for sweep in range(SWEEPS):
        changed = False
        for node in range(n):
            own, side = tooth[node], inside[node]
            differs = False
            for arc in range(pointer[node], pointer[node + 1]):
                differs |= tooth[other[arc]] != own or inside[other[arc]] != side
            if not differs or (own >= 0 and atoms[own, int(side)] == 1):
                continue
            # Zero-gain moves, allowed in two sweeps, may enable improving ones.
            idle = 1e-7 if sweep == 1 or sweep == 3 else -1e-7
            best = _crossing(pointer, other, value, inside, tooth, node, side, own) + idle
            best_side, best_tooth = side, own
            for choice in range(-2, pointer[node + 1] - pointer[node]):
                into = own if choice == -2 else -1 if choice == -1 else tooth[other[pointer[node] + choice]]
                for flag in (False, True):
                    if flag == side and into == own:
                        continue
                    crossing = _crossing(pointer, other, value, inside, tooth, node, flag, into)
                    if crossing < best:
                        best, best_side, best_tooth = crossing, flag, into
            if best_side != side or best_tooth != own:
                changed = True
                if own >= 0:
                    atoms[own, int(side)] -= 1
                inside[node], tooth[node] = best_side, best_tooth
                if best_tooth >= 0:
                    atoms[best_tooth, int(best_side)] += 1
        if not changed and sweep > 3:
            break


@compiled
def _crossing(pointer: Array, other: Array, value: Array, inside: Array, tooth: Array, node: int, side: bool, own: int) -> float:  # fmt: skip  # noqa: E501
    total = 0.0
    for arc in range(pointer[node], pointer[node + 1]):
        end = other[arc]
        sets = int(inside[end] != side)
        if tooth[end] != own:
            sets += int(own >= 0) + int(tooth[end] >= 0)
        total += value[arc] * sets
    return total
