"""The structure-free baselines, put together from PyG's parts with the same weights."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.helpers.samples import NODE_TYPES, batch_of, random_graphs
from torch.nn import functional as F
from torch_geometric.nn import global_add_pool

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import Shapes, build_model, count_parameters

SHAPES = Shapes(outputs=3, level="graph", node_types=NODE_TYPES)


@pytest.mark.parametrize("node_layer", [True, False])
def test_the_logits_are_those_of_an_mlp_on_sums_over_nodes(node_layer: bool) -> None:
    batch = batch_of(random_graphs(6, seed=3))
    torch.manual_seed(0)
    model = build_model("deep-multisets", SHAPES, {"width": 8, "node_layer": node_layer}).double()
    x = F.one_hot(batch.x.flatten(), NODE_TYPES).double()
    if node_layer:
        x = F.relu(F.linear(x, model.node_layer.weight, model.node_layer.bias))
    pooled = F.relu(F.linear(global_add_pool(x, batch.batch), model.hidden.weight, model.hidden.bias))
    torch.testing.assert_close(model(batch), F.linear(pooled, model.output.weight, model.output.bias))
    inner = (NODE_TYPES + 1) * 8 + 9 * 8 if node_layer else (NODE_TYPES + 1) * 8
    assert count_parameters(model) == inner + 9 * 3


def test_edges_do_not_count() -> None:
    graphs = random_graphs(4, seed=1)
    without = [(nodes, []) for nodes, _ in graphs]
    torch.manual_seed(0)
    model = build_model("deep-multisets", SHAPES, {"width": 8})
    batch, bare = batch_of(graphs), batch_of(without)
    bare.columns["x"] = batch.x
    torch.testing.assert_close(model(batch), model(bare))


def test_nodes_have_no_prediction_of_their_own() -> None:
    with pytest.raises(GraphTrialError, match="deep-multisets predicts a target for each graph"):
        build_model("deep-multisets", replace(SHAPES, level="node"), {"width": 8})
