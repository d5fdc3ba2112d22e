"""Graphlet kernel of connected 3-node graphlets."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtrial.core.compiler import compiled
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.counting import FeatureCounts, feature_counts, find, insert, new_table
from graphtrial.kernels.structure import Structure


@KERNELS.register("graphlet", title="Graphlet")
class Graphlet(GraphKernel):
    r"""Graphlet kernel, after Shervashidze et al. 2009 (AISTATS): counts labelled triangles and induced 3-node paths.

    .. math:: \phi_g(G) = |\{\text{induced subgraphs of } G \text{ isomorphic to the labelled graphlet } g\}|

    A triangle is identified by its three labels, a path by its middle label and two end labels. Counts are exact, not
    sampled: wedges from the label histogram of each neighbourhood, minus the closed ones; triangles by the forward
    algorithm in O(m sqrt(m)). Parallel edges and self-loops are ignored.
    """

    def __init__(self, node_labels: bool = True, normalise: bool = True, output: Output = "gram") -> None:
        self.node_labels = node_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        return graphlet_counts(structure).counts


PATH, TRIANGLE = 0, 1


def graphlet_counts(structure: Structure) -> FeatureCounts:
    """Return the number of each labelled graphlet in each graph.

    Keys are (PATH, middle label, smaller end label, larger end label) and (TRIANGLE, sorted labels).
    """
    label = structure.node_label
    labels = int(label.max(initial=0)) + 1
    ptr, neighbour = _simple(structure.ptr, structure.neighbour)
    forward_ptr, forward = _forward(ptr, neighbour)
    row_ptr, key, count = _graphlets(structure.node_ptr, ptr, neighbour, forward_ptr, forward, label, labels)
    graphlets = feature_counts(row_ptr, key, count, (2, labels, labels, labels))
    graphlets.counts.eliminate_zeros()
    return graphlets


@compiled
def _simple(ptr: Any, neighbour: Any) -> Any:
    """Return the CSR adjacency without parallel edges and self-loops."""
    new_ptr, new = np.zeros(len(ptr), np.int64), np.empty(len(neighbour), np.int64)
    used = 0
    for node in range(len(ptr) - 1):
        begin = used
        for other in np.sort(neighbour[ptr[node] : ptr[node + 1]]):
            if other != node and (used == begin or new[used - 1] != other):
                new[used] = other
                used += 1
        new_ptr[node + 1] = used
    return new_ptr, new[:used]


@compiled
def _forward(ptr: Any, neighbour: Any) -> Any:
    """Return the forward neighbours of each node: those greater in the order of (degree, index)."""
    new_ptr, new = np.zeros(len(ptr), np.int64), np.empty(len(neighbour), np.int64)
    used = 0
    for node in range(len(ptr) - 1):
        degree = ptr[node + 1] - ptr[node]
        for at in range(ptr[node], ptr[node + 1]):
            other = neighbour[at]
            other_degree = ptr[other + 1] - ptr[other]
            if other_degree > degree or (other_degree == degree and other > node):
                new[used] = other
                used += 1
        new_ptr[node + 1] = used
    return new_ptr, new[:used]


@compiled
def _key(kind: int, a: int, b: int, c: int, labels: int) -> int:
    return ((kind * labels + a) * labels + b) * labels + c


@compiled
def _path(middle: int, one: int, other: int, labels: int) -> int:
    return _key(PATH, middle, min(one, other), max(one, other), labels)


@compiled
def _graphlets(node_ptr: Any, ptr: Any, neighbour: Any, forward_ptr: Any, forward: Any, label: Any, labels: int) -> Any:
    """Return CSR pointers of the graphs, and key and count of each graphlet."""
    graphs = len(node_ptr) - 1
    keys, counts = np.empty(1024, np.int64), np.empty(1024, np.int64)
    row_ptr, used = np.zeros(graphs + 1, np.int64), 0
    around = np.zeros(labels, np.int64)
    marked = np.zeros(len(label), np.bool_)
    for graph in range(graphs):
        begin, table = used, new_table()
        for node in range(node_ptr[graph], node_ptr[graph + 1]):
            near = neighbour[ptr[node] : ptr[node + 1]]
            for other in near:
                around[label[other]] += 1
            labels_around = np.unique(label[near])
            for i in range(len(labels_around)):
                for j in range(i, len(labels_around)):
                    a, b = around[labels_around[i]], around[labels_around[j]]
                    paths = a * (a - 1) // 2 if i == j else a * b
                    if paths:
                        key = _path(label[node], labels_around[i], labels_around[j], labels)
                        table, keys, counts, used = _add(table, keys, counts, begin, used, key, paths)
            around[labels_around] = 0
        for u in range(node_ptr[graph], node_ptr[graph + 1]):
            marked[forward[forward_ptr[u] : forward_ptr[u + 1]]] = True
            for at in range(forward_ptr[u], forward_ptr[u + 1]):
                v = forward[at]
                for then in range(forward_ptr[v], forward_ptr[v + 1]):
                    w = forward[then]
                    if not marked[w]:
                        continue
                    a, b, c = label[u], label[v], label[w]
                    low, high = min(a, b, c), max(a, b, c)
                    triangle = _key(TRIANGLE, low, a + b + c - low - high, high, labels)
                    table, keys, counts, used = _add(table, keys, counts, begin, used, triangle, 1)
                    for path in (_path(a, b, c, labels), _path(b, a, c, labels), _path(c, a, b, labels)):
                        table, keys, counts, used = _add(table, keys, counts, begin, used, path, -1)
            marked[forward[forward_ptr[u] : forward_ptr[u + 1]]] = False
        row_ptr[graph + 1] = used
    return row_ptr, keys[:used], counts[:used]


@compiled
def _add(table: Any, keys: Any, counts: Any, begin: int, used: int, key: int, times: int) -> Any:
    slot = find(table, keys, key)
    if table[slot] < 0:
        table, keys, counts = insert(table, keys, counts, begin, used, key)
        used += 1
        slot = find(table, keys, key)
    counts[table[slot]] += times
    return table, keys, counts, used
