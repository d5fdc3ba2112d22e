"""Hypothesis strategies: graphs with self-loops, parallel edges and isolated nodes, empty graphs, empty sets."""

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


def build(graphs: list[Graph]) -> GraphSet:
    """Build a set whose columns hold the index of each node, edge (in the order given) and graph."""
    nodes = np.array([n for n, _ in graphs], np.int64)
    counts = np.array([len(edges) for _, edges in graphs], np.int64)
    edge_index = np.array([edge for _, edges in graphs for edge in edges], np.int64).reshape(-1, 2).T
    columns = {
        "x": Column(
            np.stack([np.arange(nodes.sum()), np.sin(np.arange(nodes.sum()))], axis=1).astype(np.float32), "node"
        ),
        "edge_attr": Column(np.arange(counts.sum()), "edge"),
        "y": Column(10 * np.arange(len(graphs)), "graph", "ten times the graph index"),
    }
    return GraphSet.build(nodes, counts, edge_index, columns)


def random_graphs(count: int, seed: int, max_nodes: int = 12) -> list[Graph]:
    """Random graphs with up to `max_nodes` nodes, from a NumPy generator."""
    rng = np.random.default_rng(seed)
    sampled = []
    for _ in range(count):
        nodes = int(rng.integers(1, max_nodes + 1))
        edges = rng.integers(0, nodes, (int(rng.integers(0, 3 * nodes)), 2))
        sampled.append((nodes, [(int(u), int(v)) for u, v in edges]))
    return sampled
