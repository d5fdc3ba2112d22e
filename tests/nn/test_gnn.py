"""The whole stack, put together by hand."""

from __future__ import annotations

import pytest
import torch

from graphtrial.nn import Shapes, build_model
from graphtrial.nn.readout import pool
from samples import AWKWARD, EDGE_TYPES, NODE_TYPES, batch_of

SHAPES = Shapes(outputs=3, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)


@pytest.mark.parametrize("readout", ["mean", "sum", "max"])
def test_one_head_hears_the_last_state_of_all_layers_in_turn(readout: str) -> None:
    batch = batch_of(AWKWARD)
    model = build_model("gatedgcn", SHAPES, {"width": 8, "layers": 3, "edge_features": True, "readout": readout})
    x, e = model.node_encoder(batch), model.edge_encoder(batch)
    for block in model.blocks:
        x, e = block(batch, x, e)
    first, second, third = model.heads[0][0], model.heads[0][2], model.heads[0][4]
    assert [(m.in_features, m.out_features) for m in (first, second, third)] == [(8, 4), (4, 2), (2, 3)]
    expected = third(second(first(pool(batch, x, readout)).relu()).relu())
    torch.testing.assert_close(model(batch), expected)


def test_gin_adds_up_one_linear_head_for_the_input_and_for_each_layer() -> None:
    batch = batch_of(AWKWARD)
    model = build_model("gin", SHAPES, {"width": 8, "layers": 3})
    x = model.node_encoder(batch)
    expected = model.heads[0](pool(batch, x, "sum"))
    for block, head in zip(model.blocks, model.heads[1:], strict=True):
        x, _ = block(batch, x, None)
        expected = expected + head(pool(batch, x, "sum"))
    torch.testing.assert_close(model(batch), expected)


def test_the_mlp_is_linear_maps_with_relu_and_a_mean() -> None:
    batch = batch_of([graph for graph in AWKWARD if graph[0]])
    model = build_model("mlp", SHAPES, {"width": 8, "layers": 2})
    x = model.node_encoder.feature.weight[batch.x]
    for block in model.blocks:
        x = (x @ block.conv.linear.weight.T + block.conv.linear.bias).clamp(min=0)
    means = torch.stack([x[batch.batch == graph].mean(0) for graph in range(batch.num_graphs)])
    torch.testing.assert_close(model(batch), model.heads[0](means))
