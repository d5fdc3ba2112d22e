"""Random expanders: regular, well connected, and a function of the seed and the graph alone."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import torch
from tests.helpers.samples import batch_of, graph_set, random_graphs, whole

from graphtrial.graphs import GraphBatch, from_networkx
from graphtrial.graphs.pairs import expander_edges, expanders

GRAPHS = from_networkx([nx.cycle_graph(n) for n in (1, 2, 10, 11, 23, 60)])


def of_graph(edges: torch.Tensor, batch: GraphBatch, graph: int) -> np.ndarray:
    start, end = batch.ptr[graph], batch.ptr[graph + 1]
    return (edges[:, (edges[0] >= start) & (edges[0] < end)] - start).numpy()


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_every_node_has_each_permutation_in_both_directions(degree: int) -> None:
    batch = whole(GRAPHS)
    looped = expander_edges(batch, degree, seed=1, self_loops=True)
    without = expander_edges(batch, degree, seed=1)
    assert torch.equal(without, looped[:, looped[0] != looped[1]])
    assert torch.equal(batch.batch[looped[0]], batch.batch[looped[1]])
    for graph, nodes in enumerate(GRAPHS.node_counts.tolist()):
        edges = of_graph(looped, batch, graph)
        for end in edges:
            expected = nodes - 1 if nodes <= 10 else 2 * degree
            np.testing.assert_array_equal(np.bincount(end, minlength=nodes), expected)
        pairs = sorted(map(tuple, edges.T.tolist()))
        assert pairs == sorted((v, u) for u, v in pairs)


def test_spectral_gap_matches_networkx_and_exceeds_the_threshold() -> None:
    rng = np.random.default_rng(0)
    for nodes, degree in ((23, 3), (60, 4), (700, 3)):
        edges = expanders.random_expander(nodes, degree, rng)
        graph = nx.MultiGraph()
        graph.add_nodes_from(range(nodes))
        graph.add_edges_from(edges[:, : nodes * degree].T.tolist())
        exact = np.linalg.eigvalsh(nx.laplacian_matrix(graph).toarray().astype(float))[1]
        assert expanders.algebraic_connectivity(edges, nodes) == pytest.approx(exact, abs=1e-6)
        assert exact >= 2 * degree - 2 * math.sqrt(2 * degree - 1) - 0.1


def test_best_sample_is_kept_if_none_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    connectivity = expanders.algebraic_connectivity

    def remembered(edges: np.ndarray, nodes: int) -> float:
        drawn.append((min(connectivity(edges, nodes), 1e-3 * len(drawn) % 0.017), edges))
        return drawn[-1][0]

    monkeypatch.setattr(expanders, "algebraic_connectivity", remembered)
    best = expanders.random_expander(30, 4, np.random.default_rng(0))
    assert len(drawn) == expanders.ATTEMPTS
    np.testing.assert_array_equal(best, max(drawn, key=lambda one: one[0])[1])


def test_expanders_depend_on_seed_and_graph_only() -> None:
    batch = whole(GRAPHS)
    batched = expander_edges(batch, 3, seed=1)
    expanders.forget()
    for graph in range(len(GRAPHS)):
        alone = GraphBatch.from_set(GRAPHS, [graph])
        np.testing.assert_array_equal(expander_edges(alone, 3, seed=1).numpy(), of_graph(batched, batch, graph))
    assert not torch.equal(batched, expander_edges(batch, 3, seed=2))
    other = whole(from_networkx([nx.path_graph(60)]))
    ring = GraphBatch.from_set(GRAPHS, [5])
    assert not torch.equal(expander_edges(other, 3, seed=1), expander_edges(ring, 3, seed=1))


def test_global_random_state_is_not_used() -> None:
    np.random.seed(1)
    torch.manual_seed(1)
    first = expander_edges(whole(GRAPHS), 2, seed=5)
    expanders.forget()
    np.random.seed(2)
    torch.manual_seed(2)
    assert torch.equal(expander_edges(whole(GRAPHS), 2, seed=5), first)


def test_degenerate_graphs_have_expanders() -> None:
    assert expander_edges(whole(graph_set([])), 3, seed=0).shape == (2, 0)
    batch = whole(graph_set([(0, []), (1, []), *random_graphs(5, seed=1, max_nodes=30)]))
    edges = expander_edges(batch, 40, seed=0)
    assert torch.equal(batch.batch[edges[0]], batch.batch[edges[1]])


def test_hamiltonian_cycles_visit_every_node() -> None:
    source, target = expander_edges(batch_of([(30, []), (41, [])]), 3, 0, hamiltonian=True)
    assert torch.bincount(source).tolist() == torch.bincount(target).tolist() == [6] * 71
    assert not (source == target).any()
    one, other = expander_edges(batch_of([(30, [])]), 1, 0, hamiltonian=True)
    cycle = nx.DiGraph(zip(one[:30].tolist(), other[:30].tolist(), strict=True))
    assert nx.is_strongly_connected(cycle)
    assert set(dict(cycle.out_degree).values()) == {1}
