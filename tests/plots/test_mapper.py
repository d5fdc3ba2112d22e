"""Mapper graphs against a hand-computed example."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("kmapper")

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import load
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.nn import Shapes
from graphtrial.nn.deep_graph_infomax import infomax_embeddings
from graphtrial.plots.mapper import MapperRules, mapper_graph
from graphtrial.plots.mapper_plot import classes_of, plot_mapper
from graphtrial.tasks import NodeClassification


def two_rings() -> tuple[nx.Graph, GraphSet, np.ndarray]:
    """Two rings of 20 nodes, joined by one link, each on its own circle in the plane."""
    graph = nx.disjoint_union(nx.cycle_graph(20), nx.cycle_graph(20))
    graph.add_edge(0, 20)
    ends = np.array([*graph.to_directed().edges()]).T
    y = Column(np.repeat([0, 1], 20), "node", types=2)
    angle = 2 * np.pi * np.arange(20) / 20
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (
        graph,
        GraphSet.build([40], [ends.shape[1]], ends, {"y": y}),
        np.concatenate([circle, circle + np.array([5, 0])]),
    )


def test_clusters_are_connected_components_within_a_cell() -> None:
    graph, graphs, lens = two_rings()
    rules = MapperRules(intervals=4, overlap=0.25, weakest=0.0, fewest=0)
    actual = mapper_graph(graphs, lens, rules)
    assert {int(node) for nodes in actual.members for node in nodes} == set(range(40))
    for nodes in actual.members:
        assert nx.is_connected(graph.subgraph(nodes.tolist()))
        assert len({int(node) // 20 for node in nodes}) == 1  # the rings lie far apart
    strengths = {}
    for a, one in enumerate(actual.members):
        for b in range(a + 1, len(actual.members)):
            other = actual.members[b]
            count = sum(graph.has_edge(int(u), int(v)) for u in one for v in other if u != v)
            if count:
                strengths[a, b] = count
    assert {(int(a), int(b)) for a, b in actual.links.T} == strengths.keys()
    expected = [strengths[int(a), int(b)] / max(strengths.values()) for a, b in actual.links.T]
    np.testing.assert_allclose(actual.strength, expected)
    majority, fraction = actual.majority(np.repeat([0, 1], 20))
    assert fraction.min() == 1.0
    assert [int(nodes[0]) // 20 for nodes in actual.members] == majority.tolist()


def test_weak_edges_and_small_components_are_removed() -> None:
    _, graphs, lens = two_rings()
    whole = mapper_graph(graphs, lens, MapperRules(intervals=4, overlap=0.25, weakest=0.0, fewest=0))
    some = mapper_graph(graphs, lens, MapperRules(intervals=4, overlap=0.25, weakest=0.4, fewest=0))
    assert some.strength.min() >= 0.4
    assert len(some.links.T) < len(whole.links.T)
    with pytest.raises(GraphTrialError, match="no part of the picture"):
        mapper_graph(graphs, lens, MapperRules(intervals=4, fewest=1000))
    with pytest.raises(GraphTrialError, match="intervals must be"):
        MapperRules(intervals=0)


def test_unsupervised_embeddings_separate_communities() -> None:
    graph = nx.planted_partition_graph(2, 40, 0.3, 0.01, seed=0)
    ends = np.array([*graph.to_directed().edges()]).T
    true = np.repeat([0, 1], 40)
    noisy = np.random.default_rng(0).normal(size=(80, 16)) + 0.5 * np.where(true, 1, -1)[:, None]
    x, y = Column(noisy.astype(np.float32), "node"), Column(true, "node", types=2)
    graphs = GraphSet.build([80], [ends.shape[1]], ends, {"x": x, "y": y})
    shapes = Shapes.of(graphs, NodeClassification(2))
    batch = GraphBatch.from_set(graphs, [0])
    vectors = infomax_embeddings(batch, shapes, width=32, epochs=100).numpy()
    assert np.array_equal(vectors, infomax_embeddings(batch, shapes, width=32, epochs=100).numpy())
    assert nearest_is_right(noisy, true) < 0.985
    assert nearest_is_right(vectors, true) >= 0.985


def nearest_is_right(vectors: np.ndarray, true: np.ndarray) -> float:
    """How many of the vectors have one of their own class nearest to them."""
    apart = np.linalg.norm(vectors[:, None] - vectors[None], axis=2) + np.diag(np.full(len(vectors), np.inf))
    return float((true[apart.argmin(axis=1)] == true).mean())


@pytest.mark.slow
def test_plot_is_deterministic(tmp_path: Path) -> None:
    dataset = load("wikics-standin")
    lens = np.random.default_rng(0).random((dataset.graphs.num_nodes, 2))
    actual = mapper_graph(dataset.graphs, lens, MapperRules(intervals=2))
    classes = {"the true class": classes_of(dataset), "all one": np.zeros(dataset.graphs.num_nodes, np.int64)}
    paths = [plot_mapper(dataset, actual, classes, tmp_path / f"{name}.svg") for name in "ab"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert b"the true class" in paths[0].read_bytes()
