"""CYCLES against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators.cycle_search import has_cycle
from graphtrial.datasets.generators.cycles import CycleModel, cycle_graphs
from graphtrial.graphs import GraphSet, from_networkx, to_networkx


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return cycle_graphs(CycleModel(), 4000, seed=3)


def undirected(graphs: GraphSet, graph: int) -> nx.Graph:
    return nx.Graph(to_networkx(graphs, graph).to_undirected())


def test_labels_match_networkx(graphs: GraphSet) -> None:
    y = graphs.column("y").values
    for graph in range(120):
        lengths = [len(cycle) for cycle in nx.simple_cycles(undirected(graphs, graph))]
        assert (6 in lengths) == bool(y[graph])
        assert lengths.count(6) <= 1
        assert len(lengths) == 2


def test_even_numbers_of_graphs_are_balanced(graphs: GraphSet) -> None:
    pairs = graphs.column("y").values.reshape(-1, 2).sum(axis=1)
    assert (pairs == 1).all()
    assert 0.4 < graphs.column("y").values[::2].mean() < 0.6


def test_classes_have_equal_summary_statistics(graphs: GraphSet) -> None:
    y, nodes, edges = graphs.column("y").values, graphs.node_counts, graphs.edge_counts
    of_node = np.repeat(y, nodes)
    for counts in (nodes, edges, edges - 2 * nodes):
        error = counts.std() * np.sqrt(4 / len(y))
        assert abs(counts[y == 1].mean() - counts[y == 0].mean()) < 5 * error
    fractions = [
        np.bincount(graphs.in_degree[of_node == label], minlength=12)[:6] / (of_node == label).sum() for label in (0, 1)
    ]
    np.testing.assert_allclose(*fractions, atol=0.006)


def test_graphs_are_sparse_with_several_components(graphs: GraphSet) -> None:
    actual = [nx.number_connected_components(undirected(graphs, graph)) for graph in range(60)]
    assert min(actual) >= 2
    assert max(actual) > 4
    assert graphs.node_counts.min() >= 37
    assert graphs.node_counts.max() <= 61


@pytest.mark.parametrize("length", [3, 4, 5, 6, 7])
def test_cycle_search_matches_networkx_on_random_graphs(length: int) -> None:
    built = [nx.gnp_random_graph(9, 0.1 + 0.02 * seed, seed=seed) for seed in range(14)]
    built += [nx.petersen_graph(), nx.complete_bipartite_graph(3, 4), nx.empty_graph(4), nx.star_graph(5)]
    graphs = from_networkx(built)
    actual = has_cycle(graphs.node_ptr, graphs.edge_ptr, graphs.edge_index, graphs.in_degree, length)
    expected = [any(len(c) == length for c in nx.simple_cycles(graph, length_bound=length)) for graph in built]
    assert actual.tolist() == expected
    assert len(set(expected)) == 2


def test_other_cycle_lengths_match_networkx() -> None:
    model = CycleModel(length=4, smallest=24, spread=2, trees=2, longest=8)
    graphs = cycle_graphs(model, 60, seed=0)
    assert graphs.column("y").values.sum() == 30
    for graph in range(20):
        lengths = [len(cycle) for cycle in nx.simple_cycles(undirected(graphs, graph))]
        assert (4 in lengths) == bool(graphs.column("y").values[graph])


def test_content_hash_is_frozen(graphs: GraphSet) -> None:
    assert graphs.content_hash[:16] == "f4d38d5e8cb0a287"


@pytest.mark.parametrize("wrong", [{"length": 2}, {"smallest": 10}, {"length": 3, "longest": 3}, {"trees": -1}])
def test_invalid_parameters_raise(wrong: dict) -> None:
    with pytest.raises(GraphTrialError):
        CycleModel(**wrong)
