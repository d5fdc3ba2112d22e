"""Shortest-path kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtrial.core.compiler import compiled
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.counting import FeatureCounts, feature_counts, grown
from graphtrial.kernels.structure import Structure

BLOCK = 64
"""Sources per bit-parallel breadth-first search: the bits of a word."""


@KERNELS.register("shortest-path", title="Shortest path")
class ShortestPath(GraphKernel):
    r"""Shortest-path kernel, Borgwardt and Kriegel 2005 (ICDM): counts node pairs by labels and distance.

    .. math:: \phi_{a, b, d}(G) = |\{(u, v) : u \neq v, \; l(u) = a, \; l(v) = b, \; \mathrm{dist}(u, v) = d\}|

    Edges have length 1; pairs are ordered, and disconnected pairs are not counted.
    """

    def __init__(self, node_labels: bool = True, normalise: bool = True, output: Output = "gram") -> None:
        self.node_labels = node_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        return path_counts(structure).counts


def path_counts(structure: Structure) -> FeatureCounts:
    """Return the number of node pairs by (source label, target label, distance) in each graph."""
    label = structure.node_label
    labels = int(label.max(initial=0)) + 1
    longest = int(np.diff(structure.node_ptr).max(initial=0)) + 1
    row_ptr, key, count = _paths(structure.node_ptr, structure.ptr, structure.neighbour, label, labels, longest)
    return feature_counts(row_ptr, key, count, (labels, labels, longest))


@compiled
def _paths(node_ptr: Any, ptr: Any, neighbour: Any, label: Any, labels: int, longest: int) -> Any:
    """Count shortest paths by breadth-first search from 64 sources at once (bit-parallel).

    Sources are sorted by label, so that the 64 of a block have few distinct ones. Returns CSR pointers of the graphs,
    and key (labels * a + b) * longest + distance and count of each feature; one found by two blocks occurs twice.
    """
    graphs = len(node_ptr) - 1
    largest = 0
    for graph in range(graphs):
        largest = max(largest, node_ptr[graph + 1] - node_ptr[graph])
    kind, place = np.empty(largest, np.int64), np.full(labels, -1, np.int64)
    seen, frontier, next_frontier = (
        np.zeros(largest, np.uint64),
        np.zeros(largest, np.uint64),
        np.zeros(largest, np.uint64),
    )
    active, touched = np.empty(largest, np.int64), np.empty(largest, np.int64)
    keys, counts = np.empty(1024, np.int64), np.empty(1024, np.int64)
    table, mask, start_kind = np.zeros(1024, np.int64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64)
    row_ptr, used = np.zeros(graphs + 1, np.int64), 0
    for graph in range(graphs):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        order = np.argsort(label[first:last], kind="mergesort")
        label_of_kind = np.empty(last - first, np.int64)
        kinds = 0
        for node in order:
            given = label[first + node]
            if place[given] < 0:
                place[given] = kinds
                label_of_kind[kinds] = given
                kinds += 1
            kind[node] = place[given]
        for number in range(kinds):
            place[label_of_kind[number]] = -1
        for begin in range(0, last - first, BLOCK):
            starts = order[begin : begin + BLOCK]
            runs = 0
            for bit in range(len(starts)):
                if not bit or kind[starts[bit]] != start_kind[runs - 1]:
                    start_kind[runs], mask[runs] = kind[starts[bit]], np.uint64(0)
                    runs += 1
                mask[runs - 1] |= np.uint64(1) << np.uint64(bit)
            table, far = _search(
                *(first, last - first, starts, mask[:runs], ptr, neighbour, kind, kinds),
                *(seen, frontier, next_frontier, active, touched, table),
            )
            for run in range(runs):
                for b in range(kinds):
                    for step in range(1, far + 1):
                        count = table[(step * runs + run) * kinds + b]
                        if count:
                            if used == len(keys):
                                keys, counts = grown(keys), grown(counts)
                            keys[used] = (label_of_kind[start_kind[run]] * labels + label_of_kind[b]) * longest + step
                            counts[used] = count
                            used += 1
            table[: (far + 1) * runs * kinds] = 0
        row_ptr[graph + 1] = used
    return row_ptr, keys[:used], counts[:used]


@compiled
def _search(
    first: int,
    nodes: int,
    starts: Any,
    mask: Any,
    ptr: Any,
    neighbour: Any,
    kind: Any,
    kinds: int,
    seen: Any,
    frontier: Any,
    next_frontier: Any,
    active: Any,
    touched: Any,
    table: Any,
) -> Any:
    """Add the nodes reached from a block to the table indexed by (distance, run of equal source labels, label).

    Bit i of `seen`, `frontier` and `next_frontier` of a node belongs to the search from the i-th source. Returns the
    table, which may have been reallocated, and the largest distance.
    """
    runs, step, count = len(mask), 0, len(starts)
    seen[:nodes] = 0
    for bit in range(count):
        seen[starts[bit]] = frontier[starts[bit]] = np.uint64(1) << np.uint64(bit)
        active[bit] = starts[bit]
    while count:
        step += 1
        reached = 0
        for at in range(count):
            node = active[at]
            for entry in range(ptr[first + node], ptr[first + node + 1]):
                other = neighbour[entry] - first
                if not next_frontier[other]:
                    touched[reached] = other
                    reached += 1
                next_frontier[other] |= frontier[node]
        while (step + 1) * runs * kinds > len(table):
            larger = np.zeros(2 * len(table), np.int64)
            larger[: len(table)] = table
            table = larger
        count = 0
        for at in range(reached):
            node = touched[at]
            new = next_frontier[node] & ~seen[node]
            next_frontier[node] = 0
            if new:
                seen[node] |= new
                frontier[node] = new
                active[count] = node
                count += 1
                for run in range(runs):
                    table[(step * runs + run) * kinds + kind[node]] += _popcount(new & mask[run])
    return table, step - 1


@compiled
def _popcount(word: np.uint64) -> np.int64:
    """Return the population count of a 64-bit word."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    count: np.int64 = np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return count
