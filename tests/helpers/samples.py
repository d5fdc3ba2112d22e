"""Small graphs for the tests of operations, layers, models and encodings."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.graphs import Column, GraphBatch, GraphSet, from_networkx

Graph = tuple[int, list[tuple[int, int]]]
"""The number of nodes and the (source, target) pairs of one graph."""

NODE_TYPES, EDGE_TYPES, ENCODING = 28, 4, 3

DEGENERATE: list[Graph] = [
    (1, []),  # one node
    (4, []),  # no edges
    (0, []),  # no nodes
    (3, [(0, 0), (1, 2), (2, 1)]),  # a self-loop
    (2, [(0, 1), (0, 1), (1, 0)]),  # parallel edges
    (6, [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]),  # several parts and an isolated node
    (4, [(0, 1), (0, 2), (0, 3)]),  # a directed star: nothing comes in at its centre
    (1, [(0, 0), (0, 0)]),
    (0, []),
]


def random_graphs(count: int, seed: int, *, undirected: bool = False, max_nodes: int = 9) -> list[Graph]:
    """Graphs with self-loops, parallel edges and isolated nodes as chance will have it."""
    rng = np.random.default_rng(seed)
    graph_list = []
    for _ in range(count):
        nodes = int(rng.integers(1, max_nodes + 1))
        edges = [(int(u), int(v)) for u, v in rng.integers(0, nodes, (int(rng.integers(0, 2 * nodes + 1)), 2))]
        graph_list.append((nodes, symmetric(edges) if undirected else edges))
    return graph_list


def symmetric(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every edge in both directions, a self-loop once."""
    return edges + [(v, u) for u, v in edges if u != v]


def graph_set(graphs: list[Graph], seed: int = 0) -> GraphSet:
    """Make a set with random node and edge categories, a random encoding and a target."""
    rng = np.random.default_rng(seed)
    nodes = np.array([n for n, _ in graphs], np.int64)
    counts = np.array([len(edges) for _, edges in graphs], np.int64)
    ends = np.array([edge for _, edges in graphs for edge in edges], np.int64).reshape(-1, 2).T
    columns = {
        "x": Column(rng.integers(0, NODE_TYPES, nodes.sum()), "node", types=NODE_TYPES),
        "edge_attr": Column(rng.integers(0, EDGE_TYPES, counts.sum()), "edge", types=EDGE_TYPES),
        "encoding": Column(rng.normal(size=(nodes.sum(), ENCODING)).astype(np.float32), "node"),
        "y": Column(rng.normal(size=len(graphs)).astype(np.float32), "graph"),
    }
    return GraphSet.build(nodes, counts, ends, columns)


def batch_of(graphs: list[Graph], seed: int = 0) -> GraphBatch:
    """All these graphs as one batch."""
    return whole(graph_set(graphs, seed))


def whole(graphs: GraphSet) -> GraphBatch:
    """All graphs of a set as one batch."""
    return GraphBatch.from_set(graphs, np.arange(len(graphs)))


def vectors(rows: int, width: int, seed: int = 0) -> Tensor:
    """Random rows in double precision."""
    return torch.randn(rows, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def relabelled(graphs: GraphSet, seed: int) -> tuple[GraphSet, npt.NDArray[np.int64]]:
    """Renumber the nodes within each graph; also return the new row of each old node."""
    rng = np.random.default_rng(seed)
    first = graphs.node_ptr[:-1].astype(np.int64)
    parts = [
        start + rng.permutation(int(count)) for start, count in zip(first, graphs.node_counts.tolist(), strict=True)
    ]
    place = np.concatenate([np.zeros(0, np.int64), *parts])
    start = np.repeat(first, graphs.edge_counts)
    columns = dict(graphs.columns)
    for name, column in graphs.columns.items():
        if column.level == "node":
            moved = np.empty_like(column.values)
            moved[place] = column.values
            columns[name] = replace(column, values=moved)
    edges = place[start + graphs.edge_index] - start
    return GraphSet.build(graphs.node_counts, graphs.edge_counts, edges, columns), place


def skip_links(skips: list[int]) -> GraphSet:
    """The circulant graphs of 41 nodes with steps 1 and skip, which no colour refinement tells apart."""
    graph_list = from_networkx([nx.circulant_graph(41, [1, skip]) for skip in skips])
    nodes = Column(np.zeros(graph_list.num_nodes, np.int64), "node", types=1)
    edges = Column(np.zeros(graph_list.num_edges, np.int64), "edge", types=1)
    return graph_list.with_column("x", nodes).with_column("edge_attr", edges)


def plain_graphs(count: int, seed: int, nodes: int = 11) -> list[nx.Graph]:
    """Connected simple graphs whose Laplacian eigenvalues are all different, so that eigenvectors are up to sign."""
    graph_list: list[nx.Graph] = []
    while len(graph_list) < count:
        graph = nx.gnp_random_graph(nodes + len(graph_list) % 3, 0.35, seed=seed)
        seed += 1
        if nx.is_connected(graph):
            values = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(graph).toarray())
            if np.diff(values).min() > 1e-3:
                graph_list.append(graph)
    return graph_list
