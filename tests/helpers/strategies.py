"""Graphs of every awkward kind: self-loops, parallel edges, isolated nodes, no nodes, no edges, no graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from graphtrial.graphs import Column, GraphSet

Graph = tuple[int, list[tuple[int, int]]]
"""The number of nodes and the (source, target) pairs of one graph, in the order they were given."""


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 6, max_edges: int = 12) -> Graph:
    """One graph."""
    nodes = draw(st.integers(0, max_nodes))
    if nodes == 0:
        return 0, []
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=max_edges))


def graph_lists(min_size: int = 0, max_size: int = 5) -> st.SearchStrategy[list[Graph]]:
    """Several graphs."""
    return st.lists(graphs(), min_size=min_size, max_size=max_size)


def build(given: list[Graph]) -> GraphSet:
    """Make a set whose columns number all nodes, edges (in the order given) and graphs."""
    nodes = np.array([n for n, _ in given], np.int64)
    counts = np.array([len(edges) for _, edges in given], np.int64)
    edge_index = np.array([edge for _, edges in given for edge in edges], np.int64).reshape(-1, 2).T
    columns = {
        "x": Column(
            np.stack([np.arange(nodes.sum()), np.sin(np.arange(nodes.sum()))], axis=1).astype(np.float32), "node"
        ),
        "edge_attr": Column(np.arange(counts.sum()), "edge"),
        "y": Column(10 * np.arange(len(given)), "graph", "ten times the number of the graph"),
    }
    return GraphSet.build(nodes, counts, edge_index, columns)


def random_graphs(count: int, seed: int, max_nodes: int = 12) -> list[Graph]:
    """Many graphs, quickly."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        nodes = int(rng.integers(1, max_nodes + 1))
        edges = rng.integers(0, nodes, (int(rng.integers(0, 3 * nodes)), 2))
        made.append((nodes, [(int(u), int(v)) for u, v in edges]))
    return made
