"""Compiled enumeration of cycles through each node."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled


@compiled
def count_cycles(node_ptr: Array, edge_ptr: Array, edges: Array, longest: int, most_steps: int, out: Array) -> int:
    """Count the cycles of 3 to `longest` nodes through each node, out [nodes, longest - 2].

    Depth-first search over the simple paths from the lowest node of a cycle; a cycle is counted in the direction in
    which its second node is lower than its last. Returns -1, or the first graph that takes more than `most_steps`.
    """
    path, choice = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
    for graph in range(len(node_ptr) - 1):
        first, nodes = node_ptr[graph], node_ptr[graph + 1] - node_ptr[graph]
        row, neighbour = _simple_neighbours(edges[:, edge_ptr[graph] : edge_ptr[graph + 1]], nodes)
        on_path = np.zeros(nodes, np.bool_)
        steps = 0
        for start in range(nodes):
            depth = 0
            path[0], choice[0] = start, row[start]
            on_path[start] = True
            while depth >= 0:
                node = path[depth]
                if choice[depth] == row[node + 1]:
                    on_path[node] = False
                    depth -= 1
                    continue
                other = neighbour[choice[depth]]
                choice[depth] += 1
                steps += 1
                if steps > most_steps:
                    return graph
                if other == start and depth >= 2 and path[1] < node:
                    for place in range(depth + 1):
                        out[first + path[place], depth - 2] += 1
                elif other > start and depth < longest - 1 and not on_path[other]:
                    depth += 1
                    path[depth], choice[depth] = other, row[other]
                    on_path[other] = True
    return -1


@compiled
def _simple_neighbours(edges: Array, nodes: int) -> tuple[Array, Array]:
    """Return the undirected simple graph in CSR form: directions, self-loops and parallel edges removed."""
    count = edges.shape[1]
    keys = np.empty(2 * count, np.int64)
    for edge in range(count):
        keys[edge] = edges[0, edge] * nodes + edges[1, edge]
        keys[count + edge] = edges[1, edge] * nodes + edges[0, edge]
    keys.sort()
    row, neighbour, filled = np.zeros(nodes + 1, np.int64), np.empty(2 * count, np.int64), 0
    for place in range(2 * count):
        source, target = keys[place] // nodes, keys[place] % nodes
        if source != target and (place == 0 or keys[place] != keys[place - 1]):
            neighbour[filled] = target
            filled += 1
            row[source + 1] += 1
    return np.cumsum(row), neighbour[:filled]
