"""The edges of random graphs whose nodes are joined as their blocks demand, compiled."""

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
    """Draw some undirected graphs, write their directed edges sorted by (target, source), return how many there are.

    Nodes i and j are joined where 32 random bits are below `likely[block[i], block[j]]`; two nodes with a `rank` of 0
    or more are joined where `fixed[fixed_of[graph], rank[i], rank[j]]` says so instead. `raw` holds 64 random bits for
    each two pairs of nodes of a graph, the last of which may be alone.
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
                    # The graph is symmetric: walked by source i, its next edge is the one that node j counts next.
                    out_order[at] = row[j] + seen[j]
                    seen[j] += 1
                    at += 1
        edge_counts[graph] = at - first
        first = at
    return first
