"""Shortest path lengths against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphtrial.graphs import GraphSet
from graphtrial.graphs.shortest_paths import shortest_path_lengths


def graph_set(graph: nx.DiGraph) -> GraphSet:
    ends = np.array([*graph.edges()], np.int64).reshape(-1, 2).T
    return GraphSet.build([len(graph)], [ends.shape[1]], ends)


@pytest.mark.parametrize(
    "graph",
    [
        nx.gnp_random_graph(150, 0.02, seed=1, directed=True),
        nx.path_graph(90).to_directed(),
        nx.disjoint_union(nx.cycle_graph(70), nx.star_graph(5)).to_directed(),
        nx.empty_graph(3).to_directed(),
    ],
    ids=["random", "long", "parts", "no edges"],
)
def test_path_length_histogram_matches_networkx(graph: nx.DiGraph) -> None:
    lengths = shortest_path_lengths(graph_set(graph))
    expected = np.bincount([d for _, row in nx.all_pairs_shortest_path_length(graph) for d in row.values()])
    assert lengths.pairs.tolist() == expected[1:].tolist()
    assert lengths.sources == len(graph)
    if len(expected) == 1:
        assert lengths.mean is None
    else:
        assert lengths.mean == pytest.approx(expected[1:] @ np.arange(1, len(expected)) / expected[1:].sum())


def test_large_graphs_are_sampled() -> None:
    graph = graph_set(nx.circulant_graph(4096, [1, 2, 3]).to_directed())
    some, every = shortest_path_lengths(graph, all_up_to=1000), shortest_path_lengths(graph)
    assert some.sources == 1024
    assert some.mean == pytest.approx(every.mean)  # all nodes are alike
