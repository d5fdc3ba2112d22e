"""The networks of Wiki-CS against PyG, and their published sizes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.helpers.layers import UNDIRECTED
from tests.helpers.samples import ENCODING, NODE_TYPES, Graph, batch_of
from torch import nn
from torch.nn import functional as F
from torch_geometric import nn as pyg

from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model, count_parameters

NODES = Shapes(outputs=3, level="node", node_types=NODE_TYPES, encoding_dim=ENCODING)
WIKICS = Shapes(outputs=10, level="node", node_dim=300)
PAIRS = Shapes(outputs=1, level="pair", node_types=NODE_TYPES, encoding_dim=ENCODING, num_nodes=21)
undirected = pytest.mark.parametrize("given", UNDIRECTED.values(), ids=UNDIRECTED)


def built(name: str, shapes: Shapes = NODES, **settings: Any) -> nn.Module:
    torch.manual_seed(0)
    return build_model(name, shapes, {"width": 10, **settings}).double().eval()


def features(batch: GraphBatch) -> torch.Tensor:
    return torch.cat([F.one_hot(batch.x.flatten(), NODE_TYPES), batch.columns["encoding"]], dim=1).double()


def simple(given: list[Graph]) -> list[Graph]:
    """Without parallel edges, of which PyG keeps one at a loop."""
    return [(nodes, [*dict.fromkeys(edges)]) for nodes, edges in given]


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("gcn-direct", {"width": 33}, 10_273),
        ("gat-direct", {"width": 70, "heads": 5}, 21_860),
        ("mlp-direct", {"width": 35}, 10_895),
        ("appnp", {"width": 64}, 19_914),
    ],
)
def test_models_have_the_size_of_the_stored_runs(name: str, settings: dict[str, Any], expected: int) -> None:
    assert count_parameters(build_model(name, WIKICS, settings)) == expected


@undirected
@pytest.mark.parametrize("self_loops", [True, False])
def test_gcn_matches_pyg(given: list[Graph], self_loops: bool) -> None:
    batch, model = batch_of(simple(given)), built("gcn-direct", layers=3, self_loops=self_loops)
    x = features(batch)
    for i, conv in enumerate(model.convs):
        outputs, inputs = conv.weight.shape
        theirs = pyg.GCNConv(inputs, outputs, add_self_loops=self_loops).double()
        theirs.lin.weight, theirs.bias = conv.weight, conv.bias
        x = theirs(x.relu() if i else x, batch.edge_index)
    torch.testing.assert_close(model(batch), x)


@undirected
def test_gat_matches_pyg(given: list[Graph]) -> None:
    batch, model = batch_of(simple(given)), built("gat-direct", heads=5)
    x = features(batch)
    for i, layer in enumerate(model.layers):
        _, heads, width = layer.source.shape
        theirs = pyg.GATConv(x.shape[1], width, heads=heads, bias=False).double()
        theirs.lin.weight, theirs.att_src, theirs.att_dst = layer.linear.weight, layer.source, layer.target
        x = theirs(F.elu(x) if i else x, batch.edge_index)
    torch.testing.assert_close(model(batch), x)


@pytest.mark.parametrize("times", [1, 10])
def test_link_mlp_concatenates_both_nodes(times: int) -> None:
    batch = batch_of(UNDIRECTED["random-0"])
    pairs = torch.tensor([[0, 3], [3, 0], [2, 2]]).repeat(times, 1)
    model = built("mlp-direct", PAIRS, layers=3)
    x = features(batch)
    hidden = torch.cat([x[pairs[:, 0]], x[pairs[:, 1]]], dim=1)
    for i, linear in enumerate(model.maps):
        hidden = F.linear(hidden.relu() if i else hidden, linear.weight, linear.bias)
    torch.testing.assert_close(model(batch.with_column("pairs", pairs)), hidden)


def test_without_its_first_activation_the_mlp_is_linear() -> None:
    batch = batch_of(UNDIRECTED["random-0"])
    model, usual = built("mlp-direct", first_activation=False, dropout=0.5), built("mlp-direct", dropout=0.5)
    first, second = model.maps
    x = features(batch)
    expected = x @ (second.weight @ first.weight).T + second.weight @ first.bias + second.bias
    torch.testing.assert_close(model.train()(batch), expected)
    assert not torch.allclose(usual(batch), expected)


def test_dropout_acts_between_layers_and_not_on_the_features_of_a_gcn() -> None:
    batch = batch_of(UNDIRECTED["random-1"])
    shallow, deep = built("gcn-direct", layers=1, dropout=0.9), built("gcn-direct", dropout=0.9)
    for model, same in ((shallow, True), (deep, False)):
        still = model(batch)
        torch.manual_seed(0)
        assert torch.allclose(model.train()(batch), still) == same
