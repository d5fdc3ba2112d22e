"""The input of models on node pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.helpers.dense_oracles import dense_input
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, ENCODING, NODE_TYPES, graph_set, random_graphs, whole

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphBatch
from graphtrial.graphs.pairs.buckets import bucket_plan
from graphtrial.nn import Shapes
from graphtrial.nn.dense.pair_input import PairInput

GRAPHS = [*DEGENERATE, *random_graphs(6, seed=3)]


@pytest.mark.parametrize("edge_features", [False, True])
@pytest.mark.parametrize("encoding_dim", [0, ENCODING])
@pytest.mark.parametrize("padding_cost", [0, 10**6])
def test_scattered_input_matches_a_naive_loop(edge_features: bool, encoding_dim: int, padding_cost: int) -> None:
    graphs = graph_set(GRAPHS)
    shapes = Shapes(outputs=1, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES, encoding_dim=encoding_dim)
    built = PairInput(shapes, edge_features=edge_features)
    batch = whole(graphs)
    plan = bucket_plan(batch, 10**6, padding_cost)
    inputs = [h for entries in built.read(batch, plan, torch.float64) for h in entries.dense().unbind(1)]
    for graph, place in enumerate(plan.graph_place.tolist()):
        single = GraphBatch.from_set(graphs, [graph])
        n, actual = single.num_nodes, inputs[place]
        expected = dense_input(single, shapes, edge_features=edge_features)
        assert len(actual) == built.channels == len(expected)
        torch.testing.assert_close(actual[:, :n, :n], expected)
        assert not actual[:, n:].any()
        assert not actual[:, :, n:].any()


@pytest.mark.parametrize(
    ("shapes", "edge_features", "channels"),
    [
        (Shapes(outputs=1, level="graph", node_types=28, edge_types=4), False, 29),
        (Shapes(outputs=1, level="graph", node_types=28, edge_types=4), True, 33),
        (Shapes(outputs=1, level="graph", node_types=65, edge_types=5), False, 66),
        (Shapes(outputs=1, level="graph", node_types=65, edge_types=5), True, 71),
        (Shapes(outputs=10, level="graph", node_dim=3, edge_dim=1), False, 4),
        (Shapes(outputs=10, level="graph", node_dim=5, edge_dim=1), False, 6),
        (Shapes(outputs=2, level="node", node_types=3), False, 4),
        (Shapes(outputs=6, level="node", node_types=7), False, 8),
        (Shapes(outputs=2, level="edge", node_dim=2, edge_dim=1), True, 4),
        (Shapes(outputs=10, level="graph", node_types=1, edge_types=1), False, 2),
        (Shapes(outputs=10, level="graph", node_types=1, encoding_dim=20, encoding_replaces=True), False, 21),
    ],
)
def test_input_channels_match_the_papers(shapes: Shapes, edge_features: bool, channels: int) -> None:
    assert PairInput(shapes, edge_features=edge_features).channels == channels


def test_numerical_features_are_used_unchanged() -> None:
    graphs = graph_set([(3, [(0, 1), (1, 0), (1, 2)])])
    graphs = graphs.with_column("x", Column(np.arange(6, dtype=np.float32).reshape(3, 2), "node"))
    graphs = graphs.with_column("edge_attr", Column(np.array([0.5, 0.25, 0.125], np.float32), "edge"))
    batch = whole(graphs)
    built = PairInput(Shapes(outputs=2, level="edge", node_dim=2, edge_dim=1), edge_features=True)
    (entries,) = built.read(batch, bucket_plan(batch, 10**6, 0), torch.float32)
    h = entries.dense()[:, 0]
    assert h[1].diagonal().tolist() == [0, 2, 4]
    assert h[2].diagonal().tolist() == [1, 3, 5]
    ends = batch.edge_index
    assert h[3][ends[0], ends[1]].tolist() == [0.5, 0.25, 0.125]
    assert h[3].count_nonzero() == 3


def test_edge_features_that_do_not_exist_raise() -> None:
    with pytest.raises(GraphTrialError, match="no edge features"):
        PairInput(Shapes(outputs=1, level="graph", node_types=3), edge_features=True)
