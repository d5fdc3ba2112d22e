"""Compiled loop of the random-walk encoding."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.spmm import spmm

LANES = 32  # walks per batch: one pass over the edges advances all of them


@compiled
def return_probabilities(node_ptr: Array, edge_ptr: Array, edges: Array, out: Array) -> None:
    """Compute the return probabilities of random walks after 1, 2, ... steps, out [nodes, steps].

    edges [2, edges]: node indices within each graph, sorted by target.
    """
    steps = out.shape[1]
    claim = np.zeros(1, np.int64)
    for graph in range(len(node_ptr) - 1):
        first, nodes = node_ptr[graph], node_ptr[graph + 1] - node_ptr[graph]
        sources = edges[0, edge_ptr[graph] : edge_ptr[graph + 1]]
        out_degree, in_ptr = np.zeros(nodes), np.zeros(nodes + 1, np.int64)
        for edge in range(edge_ptr[graph], edge_ptr[graph + 1]):
            out_degree[edges[0, edge]] += 1
            in_ptr[edges[1, edge] + 1] += 1
        in_ptr = np.cumsum(in_ptr)
        transition = 1 / out_degree[sources]
        for start in range(0, nodes, LANES):
            walks = min(LANES, nodes - start)
            now, then = np.zeros((nodes, walks)), np.empty((nodes, walks))
            for walk in range(walks):
                now[start + walk, walk] = 1.0
            for step in range(steps):
                claim[0] = 0
                spmm(claim, True, in_ptr, sources, None, transition, None, now, then)
                now, then = then, now
                for walk in range(walks):
                    out[first + start + walk, step] = now[start + walk, walk]
