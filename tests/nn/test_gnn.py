"""The whole stack, put together by hand."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, batch_of

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.nn.readout import pool

SHAPES = Shapes(outputs=3, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)


@pytest.mark.parametrize("readout", ["mean", "sum", "max"])
def test_one_head_reads_the_last_layer(readout: str) -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gatedgcn", SHAPES, {"width": 8, "layers": 3, "edge_features": True, "readout": readout})
    x, e = model.node_encoder(batch), model.edge_encoder(batch)
    for block in model.blocks:
        x, e = block(batch, x, e)
    first, second, third = (model.head.maps[0][i] for i in (0, 2, 4))
    assert [(m.in_features, m.out_features) for m in (first, second, third)] == [(8, 4), (4, 2), (2, 3)]
    expected = third(second(first(pool(batch, x, readout)).relu()).relu())
    torch.testing.assert_close(model(batch), expected)


def test_gin_sums_linear_heads_of_all_layers() -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gin", SHAPES, {"width": 8, "layers": 3})
    x = model.node_encoder(batch)
    expected = model.head.maps[0](pool(batch, x, "sum"))
    for block, head in zip(model.blocks, model.head.maps[1:], strict=True):
        x, _ = block(batch, x, None)
        expected = expected + head(pool(batch, x, "sum"))
    torch.testing.assert_close(model(batch), expected)


def test_mlp_is_linear_layers_with_relu_and_mean_readout() -> None:
    batch = batch_of([graph for graph in DEGENERATE if graph[0]])
    model = build_model("mlp", SHAPES, {"width": 8, "layers": 2})
    x = model.node_encoder.feature.weight[batch.x]
    for block in model.blocks:
        x = (x @ block.conv.linear.weight.T + block.conv.linear.bias).clamp(min=0)
    means = torch.stack([x[batch.batch == graph].mean(0) for graph in range(batch.num_graphs)])
    torch.testing.assert_close(model(batch), model.head.maps[0](means))


def shapes(level: str) -> Shapes:
    return Shapes(outputs=3, level=level, node_types=NODE_TYPES, edge_types=EDGE_TYPES)


def last_state(model: torch.nn.Module, batch: object) -> torch.Tensor:
    x, e = model.node_encoder(batch), None
    for block in model.blocks:
        x, e = block(batch, x, e)
    return x


def test_node_task_has_an_output_per_node() -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gcn", shapes("node"), {"width": 8, "layers": 2})
    torch.testing.assert_close(model(batch), model.head.maps[0](last_state(model, batch)))
    model = build_model("gin", shapes("node"), {"width": 8, "layers": 2})
    assert len(model.head.maps) == 3
    assert model(batch).shape == (batch.num_nodes, 3)


@pytest.mark.parametrize("name", ["gcn", "gin"])
def test_edge_output_reads_source_and_target(name: str) -> None:
    batch = batch_of(DEGENERATE)
    model = build_model(name, shapes("edge"), {"width": 8, "layers": 2})
    source, target = batch.edge_index
    x = last_state(model, batch)
    last = model.head.maps[-1]
    expected = last.rest(last.first(torch.cat([x[source], x[target]], dim=1)))
    assert model(batch).shape == (batch.num_edges, 3)
    if name == "gcn":
        torch.testing.assert_close(model(batch), expected)


def test_pairs_are_scored_with_or_without_an_edge() -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gin", shapes("pair"), {"width": 8, "layers": 2})
    pairs = torch.tensor([[0, 1], [1, 0], [3, 3]])
    logits = model(batch.with_column("pairs", pairs))
    x = last_state(model, batch)
    joined = torch.cat([x[pairs[:, 0]], x[pairs[:, 1]]], dim=1)
    torch.testing.assert_close(logits, model.head.map.rest(model.head.map.first(joined)))
    with pytest.raises(GraphTrialError, match="no column 'pairs'"):
        model(batch)


def test_outputs_have_one_row_per_example() -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gcn", shapes("node and graph"), {"width": 8, "layers": 2, "readout": "set2set"})
    x = last_state(model, batch)
    head = model.head
    of_graphs = head.of_graphs.maps[0](head.of_graphs.pool(batch, x))
    torch.testing.assert_close(model(batch), torch.cat([head.of_nodes.maps[0](x), of_graphs]))


def test_gru_cell_is_shared_between_blocks() -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gcn", shapes("node"), {"width": 8, "layers": 3, "gru": True})
    x = model.node_encoder(batch)
    for block in model.blocks:
        x = model.gru(x, block(batch, x, None)[0])
    torch.testing.assert_close(model(batch), model.head.maps[0](x))
    plain = build_model("gcn", shapes("node"), {"width": 8, "layers": 3})
    assert count_parameters(model) - count_parameters(plain) == 6 * 8 * 8 + 6 * 8


def test_self_loops_are_used_by_layers_and_not_by_the_head() -> None:
    batch = batch_of(DEGENERATE)
    model = build_model("gcn", shapes("edge"), {"width": 8, "layers": 2, "self_loops": True})
    x = last_state(model, add_remaining_self_loops(batch))
    torch.testing.assert_close(model(batch), model.head(batch, [x]))


def test_gated_mlp_on_raw_features_counts_the_first_linear_as_a_layer() -> None:
    batch = batch_of([graph for graph in DEGENERATE if graph[0]])
    settings = {"width": 8, "layers": 3, "raw_input": True, "gated": True, "readout": "sum"}
    model = build_model("mlp", SHAPES, settings)
    assert len(model.blocks) == 2
    x = model.node_encoder.feature.weight[batch.x].clamp(min=0)
    for block in model.blocks:
        x = (x @ block.conv.linear.weight.T + block.conv.linear.bias).clamp(min=0)
    x = torch.sigmoid(x @ model.gate.weight.T + model.gate.bias) * x
    torch.testing.assert_close(model(batch), model.head.maps[0](pool(batch, x, "sum")))
