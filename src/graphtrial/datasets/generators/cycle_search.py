"""Compiled exact search for a cycle of a given length."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled


@compiled
def has_cycle(node_ptr: Array, edge_ptr: Array, edge_index: Array, in_degree: Array, length: int) -> Array:
    """Return for each undirected graph whether it contains a (not necessarily induced) cycle of `length` nodes.

    Depth-first search over all simple paths from the lowest node of the cycle: fast in sparse graphs, exponential in
    dense ones for long cycles.
    """
    graphs = len(node_ptr) - 1
    detected = np.zeros(graphs, np.bool_)
    path = np.zeros(length, np.int64)
    choice = np.zeros(length, np.int64)
    for graph in range(graphs):
        nodes = node_ptr[graph + 1] - node_ptr[graph]
        row = np.zeros(nodes + 1, np.int64)
        for node in range(nodes):
            row[node + 1] = row[node] + in_degree[node_ptr[graph] + node]
        neighbour = edge_index[0, edge_ptr[graph] : edge_ptr[graph + 1]]
        on_path = np.zeros(nodes, np.bool_)
        for start in range(nodes):
            depth = 0
            path[0], choice[0] = start, row[start]
            on_path[start] = True
            while depth >= 0 and not detected[graph]:
                node = path[depth]
                if choice[depth] == row[node + 1]:
                    on_path[node] = False
                    depth -= 1
                    continue
                other = neighbour[choice[depth]]
                choice[depth] += 1
                if depth == length - 1:
                    if other == start:
                        detected[graph] = True
                elif other > start and not on_path[other]:
                    depth += 1
                    path[depth], choice[depth] = other, row[other]
                    on_path[other] = True
            if detected[graph]:
                break
    return detected
