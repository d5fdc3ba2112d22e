"""The GPS layer, against torch_geometric.nn.GPSConv with copied weights, and the GatedGCN inside it by a loop."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.graphgps import batch, in_edges, norm, shaken
from tests.helpers.samples import vectors
from torch import Tensor, nn
from torch_geometric.nn import GINEConv, GPSConv

from graphtrial.graphs import GraphBatch
from graphtrial.nn import count_parameters
from graphtrial.nn.graphgps.gated import GatedLayer
from graphtrial.nn.graphgps.gps_layer import GPSLayer
from graphtrial.nn.graphgps.stable_gine import StableGINE

WIDTH = 8


def layer(**given: object) -> GPSLayer:
    usual = {
        **{"heads": 2, "local": "gine", "attention": True, "dropout": 0.0, "attention_dropout": 0.0},
        **{"activation": "relu", "stable": False, "last": False},
    }
    return shaken(GPSLayer(WIDTH, **{**usual, **given}))  # type: ignore[arg-type]


def pyg_layer(ours: GPSLayer, activation: str) -> GPSConv:
    """The same layer of PyG."""
    act = nn.GELU if activation == "gelu" else nn.ReLU
    conv = GINEConv(nn.Sequential(nn.Linear(WIDTH, WIDTH), act(), nn.Linear(WIDTH, WIDTH)))
    theirs = GPSConv(WIDTH, conv, heads=2, act=activation).double()
    assert ours.attention is not None
    pairs = {
        "conv.nn.0": ours.local.mlp[0],
        "conv.nn.2": ours.local.mlp[2],
        "attn.out_proj": ours.attention.output,
        "mlp.0": ours.feed_forward[0],
        "mlp.3": ours.feed_forward[3],
        "norm1.module": ours.local_norm,
        "norm2.module": ours.attention_norm,
        "norm3.module": ours.norm,
    }
    state = {f"{name}.{key}": value for name, part in pairs.items() for key, value in part.state_dict().items()}
    state["attn.in_proj_weight"] = ours.attention.projection.weight
    state["attn.in_proj_bias"] = ours.attention.projection.bias
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert [key for key in missing if key != "conv.eps"] == unexpected == []
    return theirs


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("training", [True, False])
def test_equal_to_pyg(activation: str, training: bool) -> None:
    graph = batch()
    ours = layer(activation=activation)
    theirs = pyg_layer(ours, activation)
    x, e = vectors(graph.num_nodes, WIDTH).requires_grad_(), vectors(graph.num_edges, WIDTH, seed=1).requires_grad_()
    expected = theirs.train(training)(x, graph.edge_index, graph.batch, edge_attr=e)
    out, passed_on = ours.train(training)(graph, x, e)
    assert passed_on is e
    torch.testing.assert_close(out, expected)
    weight = vectors(graph.num_nodes, WIDTH, seed=5)
    torch.testing.assert_close(
        torch.autograd.grad((out * weight).sum(), [x, e]), torch.autograd.grad((expected * weight).sum(), [x, e])
    )
    torch.testing.assert_close(ours.norm.running_var, theirs.norm3.module.running_var)


def test_layer_without_message_passing_or_attention_uses_the_other() -> None:
    graph, ours = batch(), layer()
    x, e = vectors(graph.num_nodes, WIDTH), vectors(graph.num_edges, WIDTH, seed=1)
    ours.eval()
    local = ours.local_norm(x + ours.local(graph, x, e))
    attended = ours.attention_norm(x + ours.attention(graph, x))
    for name, part in (("local", attended), ("attention", local)):
        module = getattr(ours, name)
        setattr(ours, name, None)
        torch.testing.assert_close(ours(graph, x, e)[0], ours.norm(part + ours.feed_forward(part)))
        setattr(ours, name, module)


def gated_by_loop(layer: GatedLayer, graph: GraphBatch, x: Tensor, e: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    """The layer in evaluation, node by node."""
    conv, states, edges = layer.conv, [], e.expand(graph.num_edges, -1).clone()
    for i in range(graph.num_nodes):
        top, bottom = torch.zeros(WIDTH), torch.full((WIDTH,), 1e-6)
        for edge, j in in_edges(graph, i):
            hat = conv.E(x[i]) + conv.D(x[j]) + conv.C(edges[edge])
            gate = hat.sigmoid()
            if layer.distance_gate is not None:
                gate = gate * layer.distance_gate.mlp((p[i] - p[j]).square().sum().reshape(1))
            top, bottom = top + gate * conv.B(x[j]), bottom + gate
            edges[edge] = edges[edge] + layer.act(norm(layer.edge_norm, hat))
        states.append(x[i] + layer.act(norm(layer.node_norm, conv.A(x[i]) + top / bottom)))
    return torch.stack(states), edges


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("constant", [True, False])
@torch.no_grad()
def test_gatedgcn_layer_equals_its_equation(stable: bool, activation: str, constant: bool) -> None:
    graph = batch()
    ours = shaken(GatedLayer(WIDTH, 0.0, activation, stable=stable)).eval()  # type: ignore[arg-type]
    x, p = vectors(graph.num_nodes, WIDTH), vectors(graph.num_nodes, WIDTH, seed=2)
    e = vectors(1 if constant else graph.num_edges, WIDTH, seed=1)
    for mine, expected in zip(ours(graph, x, e, p), gated_by_loop(ours, graph, x, e, p), strict=True):
        torch.testing.assert_close(mine, expected)


@pytest.mark.parametrize("constant", [True, False])
def test_gated_gine_equals_its_equation(constant: bool) -> None:
    graph, ours = batch(), layer(stable=True).local
    assert isinstance(ours, StableGINE)
    x, p = vectors(graph.num_nodes, WIDTH), vectors(graph.num_nodes, WIDTH, seed=2)
    e = vectors(1 if constant else graph.num_edges, WIDTH, seed=1)
    edges, summed = e.expand(graph.num_edges, -1), list(x)
    for i in range(graph.num_nodes):
        for edge, j in in_edges(graph, i):
            gate = ours.distance_gate.mlp((p[i] - p[j]).square().sum().reshape(1))
            summed[i] = summed[i] + gate * (x[j] + edges[edge]).relu()
    torch.testing.assert_close(ours(graph, x, e, p), ours.mlp(torch.stack(summed)))


@pytest.mark.parametrize("local", ["gine", "gatedgcn"])
def test_a_gate_has_three_widths_and_one_parameters(local: str) -> None:
    gated, plain = (count_parameters(layer(local=local, stable=stable)) for stable in (True, False))
    assert gated - plain == 3 * WIDTH + 1
