"""Minimum cuts of small weighted graphs: Stoer-Wagner, and Gomory-Hu trees by Gusfield's method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]


@compiled
def components(n: int, u: Array, v: Array) -> Array:
    """Return the connected component of each node [n], numbered in the order of their first nodes (union-find)."""
    parent = np.arange(n)
    for e in range(len(u)):
        a, b = u[e], v[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[max(a, b)] = min(a, b)
    label, count = np.empty(n, np.int64), 0
    for node in range(n):
        root = node
        while parent[root] != root:
            root = parent[root]
        if root == node:
            label[node] = count
            count += 1
        else:
            label[node] = label[root]
    return label


@compiled
def csr_adjacency(n: int, u: Array, v: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return CSR adjacency: pointers [n + 1], neighbours and values [2 edges]."""
    pointer = np.zeros(n + 1, np.int64)
    for e in range(len(u)):
        pointer[u[e] + 1] += 1
        pointer[v[e] + 1] += 1
    pointer = np.cumsum(pointer)
    next_arc = pointer[:-1].copy()
    other, value = np.empty(2 * len(u), np.int64), np.empty(2 * len(u))
    for e in range(len(u)):
        for a, b in ((u[e], v[e]), (v[e], u[e])):
            other[next_arc[a]], value[next_arc[a]] = b, x[e]
            next_arc[a] += 1
    return pointer, other, value


@compiled
def stoer_wagner_cuts(weight: Array, below: float) -> Array:
    """Return the cuts lighter than `below` found by the Stoer-Wagner algorithm, as boolean rows [cuts, k].

    `weight` [k, k] is symmetric. The global minimum cut is among them if it is lighter than `below`.
    """
    k = len(weight)
    w = weight.copy()
    inside = np.zeros((k, k), np.bool_)
    for node in range(k):
        inside[node, node] = True
    cuts = np.empty((k, k), np.bool_)
    count = 0
    active = np.arange(k)
    left = k
    while left > 1:
        reach = np.zeros(left)
        done = np.zeros(left, np.bool_)
        last, before = 0, 0
        for _ in range(left):
            best = -1
            for a in range(left):
                if not done[a] and (best < 0 or reach[a] > reach[best]):
                    best = a
            done[best] = True
            before, last = last, best
            row = w[active[best]]
            for a in range(left):
                if not done[a]:
                    reach[a] += row[active[a]]
        if reach[last] < below:
            cuts[count] = inside[active[last]]
            count += 1
        s, t = active[before], active[last]
        for a in range(left):
            other = active[a]
            w[s, other] += w[t, other]
            w[other, s] = w[s, other]
        w[s, s] = 0.0
        inside[s] |= inside[t]
        active[last] = active[left - 1]
        left -= 1
    return cuts[:count]


@compiled
def gomory_hu_cuts(k: int, u: Array, v: Array, weight: Array) -> Array:
    """Return the minimum s-t cuts of Gusfield's method, as boolean rows [k - 1, k].

    Their weights are those of a Gomory-Hu tree of the graph with these edges and weights.
    """
    pointer = np.zeros(k + 1, np.int64)
    for e in range(len(u)):
        pointer[u[e] + 1] += 1
        pointer[v[e] + 1] += 1
    pointer = np.cumsum(pointer)
    next_arc = pointer[:-1].copy()
    target, back, residual = np.empty(2 * len(u), np.int64), np.empty(2 * len(u), np.int64), np.empty(2 * len(u))
    for e in range(len(u)):
        one, other = next_arc[u[e]], next_arc[v[e]]
        next_arc[u[e]] += 1
        next_arc[v[e]] += 1
        target[one], target[other] = v[e], u[e]
        back[one], back[other] = other, one
        residual[one] = residual[other] = weight[e]
    parent = np.zeros(k, np.int64)
    cuts = np.zeros((max(k - 1, 0), k), np.bool_)
    for source in range(1, k):
        sink = parent[source]
        _dinic(pointer, target, back, residual.copy(), source, sink, cuts[source - 1])
        for node in range(source + 1, k):
            if cuts[source - 1, node] and parent[node] == sink:
                parent[node] = source
    return cuts


@compiled
def _dinic(pointer: Array, target: Array, back: Array, residual: Array, source: int, sink: int, side: Array) -> None:
    """Mark the source side of a minimum s-t cut, by Dinic's algorithm; `residual` capacities are modified."""
    k = len(pointer) - 1
    space = np.empty((4, k), np.int64)
    level, next_arc, path, queue = space[0], space[1], space[2], space[3]
    while True:
        level[:] = -1
        level[source] = 0
        queue[0] = source
        first, waiting = 0, 1
        while first < waiting and level[sink] < 0:
            node = queue[first]
            first += 1
            for arc in range(pointer[node], pointer[node + 1]):
                other = target[arc]
                if level[other] < 0 and residual[arc] > 1e-9:
                    level[other] = level[node] + 1
                    queue[waiting] = other
                    waiting += 1
        if level[sink] < 0:
            for node in range(k):
                side[node] = level[node] >= 0
            return
        next_arc[:] = pointer[:-1]
        depth, node = 0, source
        while True:
            if node == sink:
                flow = np.inf
                for step in range(depth):
                    flow = min(flow, residual[path[step]])
                for step in range(depth - 1, -1, -1):
                    arc = path[step]
                    residual[arc] -= flow
                    residual[back[arc]] += flow
                    if residual[arc] <= 1e-9:
                        depth = step
                node = target[back[path[depth]]]
                continue
            moved = False
            while next_arc[node] < pointer[node + 1]:
                arc = next_arc[node]
                if level[target[arc]] == level[node] + 1 and residual[arc] > 1e-9:
                    path[depth] = arc
                    depth += 1
                    node = target[arc]
                    moved = True
                    break
                next_arc[node] += 1
            if not moved:
                if depth == 0:
                    break
                level[node] = -2
                depth -= 1
                node = target[back[path[depth]]]
