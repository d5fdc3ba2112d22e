"""Compiled edge sampling of stochastic block models."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled


@compiled
def draw_edges(
    node_ptr: Array,
    block: Array,
    likely: Array,
    rank: Array,
    fixed: Array,
    fixed_of: Array,
    raw: Array,
    ends: Array,
    out_order: Array,
    degree: Array,
    edge_counts: Array,
) -> int:
    """Sample undirected graphs, write their directed edges sorted by (target, source), and return their number.

    Edge (i, j) exists if 32 random bits are below the threshold `likely[block[i], block[j]]`; between two nodes with
    `rank` >= 0 the pattern's adjacency `fixed[fixed_of[graph], rank[i], rank[j]]` decides. `raw` holds 64 random bits
    per two node pairs of a graph.
    """
    word = first = 0
    for graph in range(len(edge_counts)):
        start, nodes = node_ptr[graph], node_ptr[graph + 1] - node_ptr[graph]
        joined = np.zeros((nodes, nodes), np.uint8)
        pair = 2 * word
        for i in range(nodes):
            for j in range(i):
                bits = (raw[pair >> 1] >> np.uint64(32 * (pair & 1))) & np.uint64(0xFFFFFFFF)
                pair += 1
                a, b = start + i, start + j
                if rank[a] >= 0 and rank[b] >= 0:
                    link = fixed[fixed_of[graph], rank[a], rank[b]]
                else:
                    link = bits < likely[block[a], block[b]]
                joined[i, j] = joined[j, i] = link
        word = (pair + 1) >> 1
        row = np.zeros(nodes + 1, np.int64)
        for i in range(nodes):
            degree[start + i] = joined[i].sum()
            row[i + 1] = row[i] + degree[start + i]
        seen = np.zeros(nodes, np.int64)
        at = first
        for i in range(nodes):
            for j in range(nodes):
                if joined[i, j]:
                    ends[0, at] = j
                    ends[1, at] = i
                    # By symmetry the transpose of edge (j, i) is the next entry in the row of node j.
                    out_order[at] = row[j] + seen[j]
                    seen[j] += 1
                    at += 1
        edge_counts[graph] = at - first
        first = at
    return first
