"""Smallest cuts, against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphtrial.tsp.min_cut import components, gomory_hu_cuts, stoer_wagner_cuts


def weighted(seed: int, nodes: int = 14) -> nx.Graph:
    graph = nx.gnp_random_graph(nodes, 0.35, seed=seed)
    graph.add_edges_from(nx.path_graph(nodes).edges)
    rng = np.random.default_rng(seed)
    nx.set_edge_attributes(graph, {edge: float(rng.integers(1, 20)) for edge in graph.edges}, "weight")
    return graph


def value(graph: nx.Graph, side: np.ndarray) -> float:
    return float(nx.cut_size(graph, np.flatnonzero(side), weight="weight"))


@pytest.mark.parametrize("seed", range(8))
def test_minimum_cut_matches_networkx(seed: int) -> None:
    graph = weighted(seed)
    lightest, _ = nx.stoer_wagner(graph)
    actual = stoer_wagner_cuts(nx.to_numpy_array(graph), lightest + 0.5)
    assert min(value(graph, side) for side in actual) == lightest
    assert all(0 < side.sum() < len(side) for side in actual)
    assert len(stoer_wagner_cuts(nx.to_numpy_array(graph), lightest)) == 0


@pytest.mark.parametrize("seed", range(8))
def test_gomory_hu_cuts_match_networkx(seed: int) -> None:
    graph = weighted(seed)
    u, v, weight = (np.array(column) for column in zip(*graph.edges(data="weight"), strict=True))
    ours = sorted(value(graph, side) for side in gomory_hu_cuts(len(graph), u, v, weight))
    theirs = sorted(weight for _, _, weight in nx.gomory_hu_tree(graph, capacity="weight").edges(data="weight"))
    assert ours == theirs


@pytest.mark.parametrize("seed", range(5))
def test_components_match_networkx(seed: int) -> None:
    graph = nx.gnp_random_graph(30, 0.05, seed=seed)
    u, v = np.array(graph.edges, np.int64).reshape(-1, 2).T
    label = components(30, u.copy(), v.copy())
    theirs = sorted(map(sorted, nx.connected_components(graph)))
    assert [np.flatnonzero(label == part).tolist() for part in range(label.max() + 1)] == theirs
