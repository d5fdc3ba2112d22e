"""PATTERN and CLUSTER against their definition and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators import sbm
from graphtrial.datasets.generators.sbm import BlockModel, cluster_graphs, pattern_graphs
from graphtrial.graphs import GraphSet, to_networkx

CLUSTER = BlockModel(communities=6, p=0.55, q=0.25)
PATTERN = BlockModel(communities=5, p=0.5, q=0.35)


@pytest.fixture(scope="module")
def clusters() -> GraphSet:
    return cluster_graphs(CLUSTER, 300, seed=1)


@pytest.fixture(scope="module")
def patterns() -> GraphSet:
    return pattern_graphs(PATTERN, (200, 50, 50), seed=1, patterns=10)


def densities(graphs: GraphSet, block: np.ndarray, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of nodes of each two blocks, and those among them that are joined, over all graphs."""
    pairs, edges = np.zeros((blocks, blocks)), np.zeros((blocks, blocks))
    for graph in range(len(graphs)):
        own = block[graphs.node_ptr[graph] : graphs.node_ptr[graph + 1]]
        sizes = np.bincount(own, minlength=blocks)
        pairs += np.outer(sizes, sizes) - np.diag(sizes)
        source, target = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]]
        np.add.at(edges, (own[source], own[target]), 1)
    return pairs, edges


def assert_share(pairs: np.ndarray, edges: np.ndarray, probability: float) -> None:
    # Both directions of an edge are drawn as one.
    std = np.sqrt(probability * (1 - probability) / (pairs.sum() / 2))
    assert abs(edges.sum() / pairs.sum() - probability) < 5 * std


@pytest.mark.parametrize("which", ["clusters", "patterns"])
def test_csr_matches_sorted_edges(which: str, request: pytest.FixtureRequest) -> None:
    graphs: GraphSet = request.getfixturevalue(which)
    rng = np.random.default_rng(0)
    for graph in range(0, len(graphs), 60):
        ends = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]]
        nodes = int(graphs.node_counts[graph])
        built = GraphSet.build([nodes], [ends.shape[1]], rng.permutation(ends, axis=1))
        for name, array in graphs.subset([graph]).structure.items():
            np.testing.assert_array_equal(array, built.structure[name], err_msg=name)


def test_graphs_are_simple_and_undirected(clusters: GraphSet) -> None:
    graph = to_networkx(clusters, 17)
    assert nx.number_of_selfloops(graph) == 0
    simple = nx.DiGraph(graph)
    assert simple.number_of_edges() == graph.number_of_edges()
    assert nx.is_isomorphic(simple, simple.reverse())
    assert set(simple.edges) == {(v, u) for u, v in simple.edges}


def test_community_edge_densities_match_the_probabilities(clusters: GraphSet) -> None:
    pairs, edges = densities(clusters, clusters.column("y").values, 6)
    same = np.eye(6, dtype=bool)
    assert_share(pairs[same], edges[same], 0.55)
    assert_share(pairs[~same], edges[~same], 0.25)


def test_community_sizes_are_uniform(clusters: GraphSet) -> None:
    graph = np.repeat(np.arange(len(clusters)), clusters.node_counts)
    sizes = np.bincount(graph * 6 + clusters.column("y").values)
    assert sizes.min() == 5
    assert sizes.max() == 34
    assert abs(sizes.mean() - 19.5) < 5 * 8.66 / np.sqrt(len(sizes))


def test_one_seed_node_per_community(clusters: GraphSet) -> None:
    x, y = (clusters.column(name).values.astype(int) for name in ("x", "y"))
    graph = np.repeat(np.arange(len(clusters)), clusters.node_counts)
    assert (x[x > 0] - 1 == y[x > 0]).all()
    assert (np.bincount((graph * 6 + y)[x > 0], minlength=6 * len(clusters)) == 1).all()
    first = [int(np.flatnonzero(x[graph == g] == 1)[0]) for g in range(len(clusters))]
    assert len(set(first)) > 50  # nodes are shuffled, so the telling ones are anywhere


def test_pattern_edge_density_matches_the_probability(patterns: GraphSet) -> None:
    pairs, edges = densities(patterns, patterns.column("y").values, 2)
    assert_share(pairs[0, 1], edges[0, 1], 0.5)
    # Five communities of s nodes: E[s(s-1)] pairs inside each, E[s]^2 between each two.
    inside, between = 5 * (455.17 - 19.5), 20 * 19.5**2
    expected = (0.5 * inside + 0.35 * between) / (inside + between)
    assert abs(edges[0, 0] / pairs[0, 0] - expected) < 0.003


@pytest.mark.slow
def test_graphs_of_one_pattern_share_its_structure_and_signal(patterns: GraphSet) -> None:
    which, y, x = (patterns.column(name).values for name in ("pattern", "y", "x"))
    assert which.tolist() == np.concatenate([np.repeat(range(10), n) for n in (20, 5, 5)]).tolist()
    seen = {}
    for graph in (0, 1, 19, 20, 39, 200, 204, 250):
        own = slice(patterns.node_ptr[graph], patterns.node_ptr[graph + 1])
        hidden = np.flatnonzero(y[own])
        actual = nx.Graph(to_networkx(patterns, graph).to_undirected()).subgraph(hidden)
        nx.set_node_attributes(actual, dict(enumerate(x[own].tolist())), "signal")
        seen.setdefault(int(which[graph]), []).append(actual)
    same = nx.algorithms.isomorphism.categorical_node_match("signal", None)
    for actual in seen.values():
        assert len(actual) > 1
        for other in actual[1:]:
            assert nx.is_isomorphic(actual[0], other, node_match=same)
    assert len(seen[0][0]) != len(seen[1][0]) or not nx.is_isomorphic(seen[0][0], seen[1][0])


def test_result_does_not_depend_on_chunk_size(monkeypatch: pytest.MonkeyPatch, clusters: GraphSet) -> None:
    monkeypatch.setattr(sbm, "CHUNK_PAIRS", 20_000)
    assert cluster_graphs(CLUSTER, 300, seed=1).content_hash == clusters.content_hash


def test_first_graphs_do_not_depend_on_the_total_number(clusters: GraphSet) -> None:
    fewer = cluster_graphs(CLUSTER, 20, seed=1)
    np.testing.assert_array_equal(fewer.edge_index, clusters.subset(range(20)).edge_index)
    np.testing.assert_array_equal(fewer.column("x").values, clusters.subset(range(20)).column("x").values)


def test_content_hash_is_frozen(clusters: GraphSet, patterns: GraphSet) -> None:
    assert [graphs.content_hash[:16] for graphs in (clusters, patterns)] == ["87f365f865e6a36b", "bf10a7fcf05cf0f3"]


@pytest.mark.parametrize(
    "wrong", [{"communities": 0}, {"smallest": 0}, {"smallest": 9, "largest": 8}, {"p": 2.0}, {"largest": 5000}]
)
def test_invalid_parameters_raise(wrong: dict) -> None:
    with pytest.raises(GraphTrialError):
        BlockModel(**{"communities": 5, "p": 0.5, "q": 0.3, **wrong})


def test_fixed_pattern_size_matches_statistics_of_the_first_paper() -> None:
    model = BlockModel(communities=5, p=0.5, q=0.2)
    graphs = pattern_graphs(model, (400,), 3, patterns=40, nodes=20)
    pattern = np.asarray(graphs.column("y").values)
    assert set(np.add.reduceat(pattern, np.asarray(graphs.node_ptr)[:-1].astype(np.int64)).tolist()) == {20}
    # 5 communities of 19.5 nodes and 20 more; 0.5 (5 x 217.8) + 0.2 (10 x 380.25) + 0.5 x 190 + 0.5 x 20 x 97.5, twice
    assert graphs.num_nodes / 400 == pytest.approx(117.47, abs=4)
    assert graphs.num_edges / 400 == pytest.approx(4749.15, rel=0.08)
    with pytest.raises(GraphTrialError, match="1 to 34 nodes"):
        pattern_graphs(model, (1,), 0, nodes=35)
