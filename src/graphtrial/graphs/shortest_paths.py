"""Shortest path lengths by bit-parallel breadth-first search: 64 sources at a time, one bit of a word each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.graphs.graphset import GraphSet

BATCH = 64
ALL_UP_TO = 50_000
SAMPLED = 1024


@dataclass(frozen=True)
class PathLengths:
    """Histogram of shortest path lengths.

    pairs [diameter]: number of ordered node pairs at distance 1, 2, ...; sources: number of source nodes, all nodes or
    a sample of them.
    """

    pairs: Array
    sources: int

    @property
    def mean(self) -> float | None:
        """Average shortest path length over connected pairs; None where there are none."""
        total = int(self.pairs.sum())
        return float(self.pairs @ np.arange(1, len(self.pairs) + 1)) / total if total else None


def shortest_path_lengths(graph: GraphSet, all_up_to: int = ALL_UP_TO) -> PathLengths:
    """Run a breadth-first search from every node of a single graph; above `all_up_to` nodes, from `SAMPLED` of them."""
    nodes = graph.num_nodes
    start = np.concatenate([[0], np.cumsum(graph.out_degree, dtype=np.int64)])
    neighbour = np.asarray(graph.edge_index[1])[graph.out_order].astype(np.int64)
    bases = np.arange(0, nodes, BATCH)
    if nodes > all_up_to:
        bases = bases[:: max(1, len(bases) * BATCH // SAMPLED)]
    pairs, search = np.zeros(0, np.int64), BreadthFirstSearch(start, neighbour)
    for base in bases.tolist():
        counts = search.counts_by_depth(base).sum(axis=1)
        total = np.zeros(max(len(pairs), len(counts)), np.int64)
        total[: len(pairs)] += pairs
        total[: len(counts)] += counts
        pairs = total
    return PathLengths(pairs, int(np.minimum(BATCH, nodes - bases).sum()))


class BreadthFirstSearch:
    """Breadth-first search in a CSR graph: the successors of node i are `neighbour[start[i]:start[i + 1]]`.

    Working memory is allocated once, for all sources.
    """

    def __init__(self, start: Array, neighbour: Array) -> None:
        nodes = len(start) - 1
        self.graph = start, neighbour
        self.words = [np.zeros(nodes, np.uint64) for _ in range(3)]
        self.lists = [np.zeros(nodes, np.int64) for _ in range(3)]

    def counts_by_depth(self, base: int) -> Any:
        """Count the nodes at distance 1, 2, ... from each of the sources `base` to `base + 63`, [depth, 64]."""
        return _search(*self.graph, base, *self.words, *self.lists)


@compiled
def _search(
    start: Array,
    neighbour: Array,
    base: int,
    seen: Array,
    now: Array,
    later: Array,
    front: Array,
    reached: Array,
    touched: Array,
) -> Any:
    """Breadth-first search from up to 64 sources; `seen`, `now` and `later` are all 0 before and after."""
    size = min(64, len(start) - 1 - base)
    counts = np.zeros((16, 64), np.int64)
    width = many = depth = 0
    for bit in range(size):
        node = base + bit
        seen[node] = now[node] = np.uint64(1) << np.uint64(bit)
        front[width] = touched[many] = node
        width += 1
        many += 1
    while width:
        more = 0
        for index in range(width):
            node = front[index]
            bits = now[node]
            now[node] = 0
            for at in range(start[node], start[node + 1]):
                other = neighbour[at]
                new = bits & ~seen[other]
                if new:
                    if not later[other]:
                        reached[more] = other
                        more += 1
                    later[other] |= new
        if depth == len(counts):
            grown = np.zeros((2 * depth, 64), np.int64)
            grown[:depth] = counts
            counts = grown
        for index in range(more):
            node = reached[index]
            bits = later[node]
            later[node] = 0
            if not seen[node]:
                touched[many] = node
                many += 1
            seen[node] |= bits
            now[node] = bits
            front[index] = node
            bit = 0
            while bits:
                if bits & np.uint64(1):
                    counts[depth, bit] += 1
                bits >>= np.uint64(1)
                bit += 1
        depth += more > 0
        width = more
    for index in range(many):
        seen[touched[index]] = 0
    return counts[:depth]
