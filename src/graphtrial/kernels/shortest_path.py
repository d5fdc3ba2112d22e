"""The shortest-path kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtrial.compiler import compiled
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.structure import Structure
from graphtrial.kernels.tally import find, insert, new_table


@KERNELS.register("shortest-path")
class ShortestPath(GraphKernel):
    r"""Counts the pairs of nodes by their labels and their distance, Borgwardt and Kriegel 2005 (ICDM).

    .. math:: \phi_{a, b, d}(G) = |\{(u, v) : u \neq v, \; l(u) = a, \; l(v) = b, \; \mathrm{dist}(u, v) = d\}|

    Edges have length 1; pairs are ordered, and pairs without a path are left out.
    """

    def __init__(self, node_labels: bool = True, normalise: bool = True, output: Output = "gram") -> None:
        self.node_labels = node_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        label = structure.node_label
        labels = int(label.max(initial=0)) + 1
        longest = int(np.diff(structure.node_ptr).max(initial=0)) + 1
        row_ptr, key, count = _paths(structure.node_ptr, structure.ptr, structure.neighbour, label, labels, longest)
        return counted(row_ptr, key, count)


def counted(row_ptr: Any, key: Any, count: Any) -> sparse.csr_matrix:
    """Return a matrix of counts by graph and key, the keys in ascending order."""
    kinds, column = np.unique(key, return_inverse=True)
    values = (count.astype(np.float64), column.reshape(-1), row_ptr)
    made = sparse.csr_matrix(values, shape=(len(row_ptr) - 1, len(kinds)))
    made.sort_indices()
    return made


@compiled
def _paths(node_ptr: Any, ptr: Any, neighbour: Any, label: Any, labels: int, longest: int) -> Any:
    """Count the kinds of paths of each graph by breadth-first search from each node.

    Returns where the kinds of each graph begin, and the key (labels * a + b) * longest + distance and count of each.
    """
    graphs = len(node_ptr) - 1
    largest = 0
    for graph in range(graphs):
        largest = max(largest, node_ptr[graph + 1] - node_ptr[graph])
    distance, queue = np.empty(largest, np.int64), np.empty(largest, np.int64)
    keys, counts = np.empty(1024, np.int64), np.empty(1024, np.int64)
    row_ptr, used = np.zeros(graphs + 1, np.int64), 0
    for graph in range(graphs):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        table = new_table()
        for start in range(first, last):
            distance[: last - first] = -1
            distance[start - first] = 0
            queue[0] = start
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                step = distance[node - first]
                if step:
                    key = (label[start] * labels + label[node]) * longest + step
                    slot = find(table, keys, key)
                    if table[slot] < 0:
                        table, keys, counts = insert(table, keys, counts, row_ptr[graph], used, key)
                        used += 1
                        slot = find(table, keys, key)
                    counts[table[slot]] += 1
                for at in range(ptr[node], ptr[node + 1]):
                    other = neighbour[at]
                    if distance[other - first] < 0:
                        distance[other - first] = step + 1
                        queue[tail] = other
                        tail += 1
        row_ptr[graph + 1] = used
    return row_ptr, keys[:used], counts[:used]
