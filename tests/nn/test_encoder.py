"""Encoders: embedded features, positional encodings, constants for missing edge features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.helpers.samples import DEGENERATE, ENCODING, batch_of, graph_set, whole
from torch import nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphBatch
from graphtrial.nn import Shapes
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder

TYPES = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
ADDED = Shapes(outputs=1, level="graph", node_types=28, edge_types=4, encoding_dim=ENCODING)
REPLACED = Shapes(outputs=1, level="graph", node_types=28, encoding_dim=ENCODING, encoding_replaces=True)


@pytest.fixture
def batch() -> GraphBatch:
    return batch_of(DEGENERATE)


def test_categories_are_embedded(batch: GraphBatch) -> None:
    nodes, edges = NodeEncoder(TYPES, 6), EdgeEncoder(TYPES, 6, use_features=True)
    assert torch.equal(nodes(batch), nodes.feature.weight[batch.x])
    assert torch.equal(edges(batch), edges.feature.weight[batch.edge_attr])


def test_embeddings_of_several_categories_are_summed() -> None:
    graphs = graph_set(DEGENERATE)
    values = np.stack([np.arange(graphs.num_nodes) % 3, np.arange(graphs.num_nodes) % 5], axis=1)
    batch = whole(graphs.with_column("x", Column(values, "node", types=5)))
    encoder = NodeEncoder(Shapes(outputs=1, level="graph", node_types=5, node_type_counts=(3, 5)), 6)
    one, other = (table.weight for table in encoder.feature.tables)
    assert torch.equal(encoder(batch), one[values[:, 0]] + other[values[:, 1]])


def test_categories_may_be_column_vectors_or_booleans() -> None:
    graphs = graph_set(DEGENERATE)
    encoder = NodeEncoder(Shapes(outputs=1, level="graph", node_types=2), 6)
    flat = np.arange(graphs.num_nodes) % 2
    for values in (flat, flat[:, None], flat.astype(bool)):
        batch = whole(graphs.with_column("x", Column(values, "node", types=2)))
        assert torch.equal(encoder(batch), encoder.feature.weight[torch.from_numpy(flat)])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_numerical_features_of_any_dtype_are_mapped_linearly(dtype: type) -> None:
    graphs = graph_set(DEGENERATE)
    values = np.arange(3 * graphs.num_nodes).reshape(-1, 3).astype(dtype)
    batch = whole(graphs.with_column("x", Column(values, "node")))
    encoder = NodeEncoder(Shapes(outputs=1, level="graph", node_dim=3), 6)
    expected = torch.from_numpy(values.astype(np.float32)) @ encoder.feature.weight.T + encoder.feature.bias
    torch.testing.assert_close(encoder(batch), expected)


@pytest.mark.parametrize("shape", [(0,), (0, 1), (0, 3), (0, 3, 2)])
def test_batch_without_nodes_is_embedded(shape: tuple[int, ...]) -> None:
    batch = whole(graph_set([(0, [])]).with_column("x", Column(np.zeros(shape, np.float32), "node")))
    width = int(np.prod(shape[1:]))
    assert NodeEncoder(Shapes(outputs=1, level="graph", node_dim=width), 6)(batch).shape == (0, 6)


def test_encoding_is_added_to_or_replaces_the_feature(batch: GraphBatch) -> None:
    added, replaced = NodeEncoder(ADDED, 6), NodeEncoder(REPLACED, 6)
    position = batch.encoding @ added.encoding.weight.T + added.encoding.bias
    torch.testing.assert_close(added(batch), added.feature.weight[batch.x] + position)
    assert replaced.feature is None
    torch.testing.assert_close(replaced(batch), batch.encoding @ replaced.encoding.weight.T + replaced.encoding.bias)


def test_missing_edge_features_are_a_constant_embedding(batch: GraphBatch) -> None:
    encoder = EdgeEncoder(TYPES, 6, use_features=False)
    assert isinstance(encoder.feature, nn.Linear)
    torch.testing.assert_close(encoder(batch), (encoder.feature.weight[:, 0] + encoder.feature.bias).unsqueeze(0))


def test_edge_features_do_not_change_parameter_count() -> None:
    shapes = Shapes(outputs=1, level="graph", edge_dim=3)
    counts = {sum(p.numel() for p in EdgeEncoder(shapes, 6, use_features=u).parameters()) for u in (True, False)}
    assert counts == {3 * 6 + 6}


def test_double_precision_is_supported(batch: GraphBatch) -> None:
    assert NodeEncoder(ADDED, 6).double()(batch).dtype == torch.float64
    assert EdgeEncoder(TYPES, 6, use_features=False).double()(batch).dtype == torch.float64


def test_missing_features_raise(batch: GraphBatch) -> None:
    nothing = Shapes(outputs=1, level="graph")
    with pytest.raises(GraphTrialError, match="these graphs have no node features; give the model a positional"):
        NodeEncoder(nothing, 6)
    with pytest.raises(GraphTrialError, match="these graphs have no edge features"):
        EdgeEncoder(nothing, 6, use_features=True)
    encoder, column = NodeEncoder(ADDED, 6), "lacks the feature column that this model was built for"
    for name in ("x", "encoding"):
        structure = {key: value for key, value in batch.columns.items() if key != name}
        with pytest.raises(GraphTrialError, match=column):
            encoder(GraphBatch(batch._structure, structure, batch.num_graphs))
