"""Expanders: regular, with a spectral gap, decided by size and seed."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from tests.helpers.samples import batch_of

from graphtrial.graphs.pairs.expander import Algorithm, expander_graph


@pytest.mark.parametrize("algorithm", ["permutations", "hamiltonian"])
def test_regular_connected_and_with_a_gap(algorithm: Algorithm) -> None:
    graph = expander_graph(batch_of([(30, []), (0, []), (41, [(0, 1)])]), 3, algorithm, 0)
    assert graph.in_degree.tolist() == graph.out_degree.tolist() == [6] * 71
    multi = nx.MultiDiGraph(graph.edge_index.T.tolist())
    parts = list(nx.strongly_connected_components(multi))
    assert sorted(map(len, parts)) == [30, 41]
    for part in parts:
        adjacency = nx.to_numpy_array(multi.subgraph(part))
        assert (adjacency == adjacency.T).all()
        second = sorted(torch.linalg.eigvalsh(torch.from_numpy(adjacency)).tolist())[-2]
        assert 6 - second >= 6 - 2 * 5**0.5 - 0.1
    if algorithm == "hamiltonian":
        assert nx.number_of_selfloops(multi) == 0


def test_small_graphs_are_complete() -> None:
    graph = expander_graph(batch_of([(10, []), (1, [])]), 3, "permutations", 0)
    assert sorted(map(tuple, graph.edge_index.T.tolist())) == [(i, j) for i in range(10) for j in range(10) if i != j]


def test_size_seed_and_degree_decide() -> None:
    def edges(sizes: list[int], degree: int = 2, seed: int = 0) -> torch.Tensor:
        return expander_graph(batch_of([(size, []) for size in sizes]), degree, "permutations", seed).edge_index

    assert torch.equal(edges([12, 20])[:, :48], edges([12]))
    assert torch.equal(edges([12]), edges([12]))
    assert not torch.equal(edges([12]), edges([12], seed=1))
    assert edges([12], degree=3).shape[1] == 72
