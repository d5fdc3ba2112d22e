"""Candidate combs: blossoms of the support graph, and of graphs shrunk from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled
from graphtrial.tsp.min_cut import components, csr_adjacency, gomory_hu_cuts

Array = npt.NDArray[Any]

TOLERANCE = 1e-6
CANDIDATE_VALUE = 1.3
"""Blossoms are violated below 1; those up to this value are candidates, which tightening may make violated."""


@compiled
def comb_candidates(n: int, u: Array, v: Array, x: Array, seed: int, rounds: int, most: int) -> tuple[Array, Array]:
    """Return up to `most` combs as labels: in the handle [combs, n], and index of the tooth or -1 [combs, n].

    Blossoms of the support graph come first, then `rounds` times those of successively shrunk graphs. A node of a
    shrunk graph is a tight set S, x(delta(S)) = 2: two tight sets joined by 1, or three joined by 2 in total, give
    another. A blossom of the shrunk graph is a comb of the original (Padberg, Rinaldi 1990).
    """
    inside, tooth = np.zeros((most, n), np.bool_), np.full((most, n), -1, np.int16)
    count = _blossoms(n, u, v, x, np.arange(n), inside, tooth, 0)
    np.random.seed(seed)
    for _ in range(rounds):
        group, k = np.arange(n), n
        a, b, w = u, v, x
        while k > 6:
            joined = _shrink(k, a, b, w)
            if joined.max() == k - 1:
                break
            k = joined.max() + 1
            for point in range(n):
                group[point] = joined[group[point]]
            a, b, w = _merge_parallel_edges(k, joined, a, b, w)
            count = _blossoms(k, a, b, w, group, inside, tooth, count)
    return inside[:count], tooth[:count]


@compiled
def _shrink(k: int, u: Array, v: Array, x: Array) -> Array:
    """Return new labels of nodes after shrinking edges of value 1 or, without any, triangles of value 2."""
    free = np.ones(k, np.bool_)
    order = np.random.permutation(len(u))
    left, right = np.empty(k, np.int64), np.empty(k, np.int64)
    count = 0
    for e in order:
        if x[e] > 1.0 - TOLERANCE and free[u[e]] and free[v[e]]:
            free[u[e]] = free[v[e]] = False
            left[count], right[count] = u[e], v[e]
            count += 1
    if count == 0:
        pointer, other, value = csr_adjacency(k, u, v, x)
        near = np.zeros(k)
        for e in order:
            a, b = u[e], v[e]
            if not (free[a] and free[b]):
                continue
            for end in (a, b):
                for arc in range(pointer[end], pointer[end + 1]):
                    near[other[arc]] += value[arc]
            for arc in range(pointer[a], pointer[a + 1]):
                c = other[arc]
                if c != b and free[c] and near[c] + x[e] > 2.0 - TOLERANCE:
                    free[a] = free[b] = free[c] = False
                    left[count], right[count], left[count + 1], right[count + 1] = a, b, a, c
                    count += 2
                    break
            for end in (a, b):
                for arc in range(pointer[end], pointer[end + 1]):
                    near[other[arc]] = 0.0
    return components(k, left[:count], right[:count])


@compiled
def _merge_parallel_edges(k: int, joined: Array, u: Array, v: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return the edges of the shrunk graph, parallel ones summed."""
    key = np.empty(len(u), np.int64)
    for e in range(len(u)):
        a, b = joined[u[e]], joined[v[e]]
        key[e] = min(a, b) * k + max(a, b)
    order = np.argsort(key, kind="mergesort")
    a, b, w = np.empty(len(u), np.int64), np.empty(len(u), np.int64), np.zeros(len(u))
    count, last = 0, -1
    for e in order:
        one, other = key[e] // k, key[e] % k
        if one == other:
            continue
        if key[e] != last:
            last = key[e]
            a[count], b[count] = one, other
            count += 1
        w[count - 1] += x[e]
    return a[:count], b[:count], w[:count]


@compiled
def _blossoms(k: int, u: Array, v: Array, x: Array, group: Array, inside: Array, tooth: Array, count: int) -> int:
    """Write (nearly) violated blossoms; handles are cuts of a Gomory-Hu tree (Letchford, Reinelt, Theis 2008).

    With capacities min(x, 1 - x) each minimum cut is a handle; its teeth are the crossing edges with x > 1/2, their
    number made odd at minimum cost.
    """
    fractional = (x > TOLERANCE) & (x < 1.0 - TOLERANCE)
    fu, fv, fx = u[fractional], v[fractional], x[fractional]
    label = components(k, fu, fv)
    number = np.empty(k, np.int64)
    handle = np.empty(k, np.bool_)
    for part in range(label.max() + 1):
        members = np.flatnonzero(label == part)
        if len(members) < 3:
            continue
        number[members] = np.arange(len(members))
        own = label[fu] == part
        cuts = gomory_hu_cuts(len(members), number[fu[own]], number[fv[own]], np.minimum(fx[own], 1.0 - fx[own]))
        for row in range(-1, len(cuts)):
            if count == len(inside):
                return count
            handle[:] = False
            for place in range(len(members)):
                handle[members[place]] = row < 0 or cuts[row, place]
            count += _with_teeth(handle, u, v, x, group, inside[count], tooth[count])
    return count


@compiled
def _with_teeth(handle: Array, u: Array, v: Array, x: Array, group: Array, inside: Array, tooth: Array) -> int:
    """Write the comb of a handle and its best odd set of crossing edges as teeth; return 1, or 0 if there is none."""
    k = len(handle)
    of_node = np.empty(k, np.int64)
    for _ in range(6):
        value, teeth, least, flip = 0.0, 0, np.inf, -1
        for e in range(len(u)):
            if handle[u[e]] != handle[v[e]]:
                teeth += x[e] > 0.5
                value += min(x[e], 1.0 - x[e])
                if abs(2.0 * x[e] - 1.0) < least:
                    least, flip = abs(2.0 * x[e] - 1.0), e
        if teeth % 2 == 0:
            value += least
        if value > CANDIDATE_VALUE or flip < 0:
            return 0
        if teeth % 2 == 1:
            flip = -1
        of_node[:] = -1
        number, shared = 0, -1
        for e in range(len(u)):
            if handle[u[e]] != handle[v[e]] and ((x[e] > 0.5) != (e == flip)):
                for end in (u[e], v[e]):
                    if of_node[end] >= 0:
                        shared = end
                    of_node[end] = number
                number += 1
        if shared < 0:
            if number < 3:
                return 0
            for point in range(len(group)):
                inside[point] = handle[group[point]]
                tooth[point] = of_node[group[point]]
            return 1
        handle[shared] = not handle[shared]  # a node shared by two teeth changes sides, which removes both teeth
    return 0
