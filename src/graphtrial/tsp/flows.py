"""Smallest cuts in small graphs with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]


@compiled
def components(n: int, u: Array, v: Array) -> Array:
    """Return the number of the component of each node [n], numbered from 0 in the order of their first nodes."""
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
def neighbour_lists(n: int, u: Array, v: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return where the list of each node begins [n + 1], and the other ends and values of its edges [2 edges]."""
    pointer = np.zeros(n + 1, np.int64)
    for e in range(len(u)):
        pointer[u[e] + 1] += 1
        pointer[v[e] + 1] += 1
    pointer = np.cumsum(pointer)
    place = pointer[:-1].copy()
    other, value = np.empty(2 * len(u), np.int64), np.empty(2 * len(u))
    for e in range(len(u)):
        for a, b in ((u[e], v[e]), (v[e], u[e])):
            other[place[a]], value[place[a]] = b, x[e]
            place[a] += 1
    return pointer, other, value


@compiled
def light_cuts(weight: Array, below: float) -> Array:
    """Return every cut of less than `below` met by the algorithm of Stoer and Wagner, rows of truth values [cuts, k].

    `weight` [k, k] is symmetric. The lightest cut of the graph is among those that are returned, if it is light enough.
    """
    k = len(weight)
    w = weight.copy()
    inside = np.zeros((k, k), np.bool_)
    for node in range(k):
        inside[node, node] = True
    found = np.empty((k, k), np.bool_)
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
            found[count] = inside[active[last]]
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
    return found[:count]


@compiled
def cut_tree(k: int, u: Array, v: Array, weight: Array) -> Array:
    """Return a smallest cut for each pair that Gusfield's method compares, rows of truth values [k - 1, k].

    They are as small as the cuts of a Gomory-Hu tree of the graph with these edges and weights.
    """
    pointer = np.zeros(k + 1, np.int64)
    for e in range(len(u)):
        pointer[u[e] + 1] += 1
        pointer[v[e] + 1] += 1
    pointer = np.cumsum(pointer)
    place = pointer[:-1].copy()
    target, back, room = np.empty(2 * len(u), np.int64), np.empty(2 * len(u), np.int64), np.empty(2 * len(u))
    for e in range(len(u)):
        one, other = place[u[e]], place[v[e]]
        place[u[e]] += 1
        place[v[e]] += 1
        target[one], target[other] = v[e], u[e]
        back[one], back[other] = other, one
        room[one] = room[other] = weight[e]
    parent = np.zeros(k, np.int64)
    cuts = np.zeros((max(k - 1, 0), k), np.bool_)
    for source in range(1, k):
        sink = parent[source]
        _source_side(pointer, target, back, room.copy(), source, sink, cuts[source - 1])
        for node in range(source + 1, k):
            if cuts[source - 1, node] and parent[node] == sink:
                parent[node] = source
    return cuts


@compiled
def _source_side(pointer: Array, target: Array, back: Array, room: Array, source: int, sink: int, side: Array) -> None:
    """Mark the nodes on the source's side of a smallest cut: shortest augmenting paths, level by level (Dinic)."""
    k = len(pointer) - 1
    space = np.empty((4, k), np.int64)
    level, place, path, queue = space[0], space[1], space[2], space[3]
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
                if level[other] < 0 and room[arc] > 1e-9:
                    level[other] = level[node] + 1
                    queue[waiting] = other
                    waiting += 1
        if level[sink] < 0:
            for node in range(k):
                side[node] = level[node] >= 0
            return
        place[:] = pointer[:-1]
        depth, node = 0, source
        while True:
            if node == sink:
                flow = np.inf
                for step in range(depth):
                    flow = min(flow, room[path[step]])
                for step in range(depth - 1, -1, -1):
                    arc = path[step]
                    room[arc] -= flow
                    room[back[arc]] += flow
                    if room[arc] <= 1e-9:
                        depth = step
                node = target[back[path[depth]]]
                continue
            moved = False
            while place[node] < pointer[node + 1]:
                arc = place[node]
                if level[target[arc]] == level[node] + 1 and room[arc] > 1e-9:
                    path[depth] = arc
                    depth += 1
                    node = target[arc]
                    moved = True
                    break
                place[node] += 1
            if not moved:
                if depth == 0:
                    break
                level[node] = -2
                depth -= 1
                node = target[back[path[depth]]]
