"""The shortest-path kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtrial.core.compiler import compiled
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.structure import Structure
from graphtrial.kernels.tally import Tally, longer, tallied

BLOCK = 64
"""Nodes that are searched from at once: the bits of a word."""


@KERNELS.register("shortest-path", title="Shortest path")
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
        return paths_by_kind(structure).counts


def paths_by_kind(structure: Structure) -> Tally:
    """Return how many paths of each kind (label of one end, label of the other, length) each graph has."""
    label = structure.node_label
    labels = int(label.max(initial=0)) + 1
    longest = int(np.diff(structure.node_ptr).max(initial=0)) + 1
    row_ptr, key, count = _paths(structure.node_ptr, structure.ptr, structure.neighbour, label, labels, longest)
    return tallied(row_ptr, key, count, (labels, labels, longest))


@compiled
def _paths(node_ptr: Any, ptr: Any, neighbour: Any, label: Any, labels: int, longest: int) -> Any:
    """Count the kinds of paths of each graph, by breadth-first search from up to 64 nodes at once.

    The nodes of a graph are searched from in the order of their labels, so that the 64 of a block have few. Returns
    where the kinds of each graph begin, and the key (labels * a + b) * longest + distance and count of each; a kind
    that two blocks found is there twice.
    """
    graphs = len(node_ptr) - 1
    largest = 0
    for graph in range(graphs):
        largest = max(largest, node_ptr[graph + 1] - node_ptr[graph])
    kind, place = np.empty(largest, np.int64), np.full(labels, -1, np.int64)
    seen, front, coming = np.zeros(largest, np.uint64), np.zeros(largest, np.uint64), np.zeros(largest, np.uint64)
    active, touched = np.empty(largest, np.int64), np.empty(largest, np.int64)
    keys, counts = np.empty(1024, np.int64), np.empty(1024, np.int64)
    table, mask, start_kind = np.zeros(1024, np.int64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64)
    row_ptr, used = np.zeros(graphs + 1, np.int64), 0
    for graph in range(graphs):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        order = np.argsort(label[first:last], kind="mergesort")
        shown = np.empty(last - first, np.int64)
        kinds = 0
        for node in order:
            given = label[first + node]
            if place[given] < 0:
                place[given] = kinds
                shown[kinds] = given
                kinds += 1
            kind[node] = place[given]
        for number in range(kinds):
            place[shown[number]] = -1
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
                *(seen, front, coming, active, touched, table),
            )
            for run in range(runs):
                for b in range(kinds):
                    for step in range(1, far + 1):
                        count = table[(step * runs + run) * kinds + b]
                        if count:
                            if used == len(keys):
                                keys, counts = longer(keys), longer(counts)
                            keys[used] = (shown[start_kind[run]] * labels + shown[b]) * longest + step
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
    front: Any,
    coming: Any,
    active: Any,
    touched: Any,
    table: Any,
) -> Any:
    """Add what the nodes of a block reach to the table of (distance, run of equal labels in the block, label).

    Bit i of `seen`, `front` and `coming` of a node tells of the search from the i-th node of the block: that it has
    been there, arrived in the last step, arrives in this one. Returns the table, which may have grown, and the largest
    distance.
    """
    runs, step, count = len(mask), 0, len(starts)
    seen[:nodes] = 0
    for bit in range(count):
        seen[starts[bit]] = front[starts[bit]] = np.uint64(1) << np.uint64(bit)
        active[bit] = starts[bit]
    while count:
        step += 1
        reached = 0
        for at in range(count):
            node = active[at]
            for entry in range(ptr[first + node], ptr[first + node + 1]):
                other = neighbour[entry] - first
                if not coming[other]:
                    touched[reached] = other
                    reached += 1
                coming[other] |= front[node]
        while (step + 1) * runs * kinds > len(table):
            grown = np.zeros(2 * len(table), np.int64)
            grown[: len(table)] = table
            table = grown
        count = 0
        for at in range(reached):
            node = touched[at]
            new = coming[node] & ~seen[node]
            coming[node] = 0
            if new:
                seen[node] |= new
                front[node] = new
                active[count] = node
                count += 1
                for run in range(runs):
                    table[(step * runs + run) * kinds + kind[node]] += _bits(new & mask[run])
    return table, step - 1


@compiled
def _bits(word: Any) -> int:
    """Return how many bits of a word are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
