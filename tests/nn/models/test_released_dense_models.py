"""RingGNN and 3WL-GNN against the formulas of the released networks, one graph at a time, weights copied."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.samples import graph_set, random_graphs, skip_links, whole
from torch import Tensor, nn

from graphtrial.datasets import load
from graphtrial.datasets.base import Split
from graphtrial.encodings.laplacian import LaplacianPE
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.studies.study import parse_encoding
from graphtrial.trials.shapes import make_encoding, shapes_for

CSL = Shapes(outputs=10, level="graph", node_types=1, edge_types=1)
TYPED = Shapes(outputs=2, level="graph", node_types=3, edge_types=4)


def released_input(graphs: GraphSet, graph: int, node_channels: int) -> Tensor:
    """D^-1/2 A D^-1/2, then one channel per node type; a single channel gets the number of the type, which is 0."""
    batch = GraphBatch.from_set(graphs, [graph])
    n = batch.num_nodes
    adjacency = torch.zeros(n, n, dtype=torch.float64)
    adjacency[batch.edge_index[0], batch.edge_index[1]] = 1
    degree = adjacency.sum(0)
    scale = torch.diag(torch.where(degree > 0, degree**-0.5, 0.0))
    out = torch.zeros(1 + node_channels, n, n, dtype=torch.float64)
    out[0] = scale @ adjacency @ scale
    assert batch.x is not None
    for node, kind in enumerate(batch.x.flatten().tolist()):
        if node_channels == 1:
            out[1, node, node] = kind
        else:
            out[1 + kind, node, node] = 1
    return out


def released_operations(h: Tensor) -> Tensor:
    """The fifteen operations in the order of the released file, [channels, n, n] -> [channels, 15, n, n]."""
    n = h.shape[-1]
    diagonal, rows, columns = h.diagonal(dim1=1, dim2=2), h.sum(2), h.sum(1)
    trace, total = diagonal.sum(1, keepdim=True), rows.sum(1, keepdim=True)
    on_diagonal = [diagonal, trace.expand_as(rows) / n, rows / n, columns / n, total.expand_as(rows) / n**2]
    everywhere = [value.unsqueeze(2).expand(-1, n, n) for value in (trace / n, total / n**2)]
    return torch.stack(
        [
            *(torch.diag_embed(value) for value in on_diagonal),
            *(value.unsqueeze(2).expand(-1, n, n) / n for value in (columns, rows)),
            *(value.unsqueeze(1).expand(-1, n, n) / n for value in (columns, rows)),
            h,
            h.transpose(1, 2),
            diagonal.unsqueeze(2).expand(-1, n, n),
            diagonal.unsqueeze(1).expand(-1, n, n),
            *everywhere,
        ],
        dim=1,
    )


def released_ring_layer(layer: Any, h: Tensor) -> Tensor:
    """Radius 1 is one map with its bias; radius 2 a map with its bias, multiplied from the left by one without."""
    operations, eye = released_operations(h), torch.eye(h.shape[-1], dtype=h.dtype)
    maps = [torch.einsum("dsb,dbij->sij", coefficients, operations) for coefficients in layer.coefficients]
    biases = [eye * bias.view(-1, 1, 1) for bias in layer.diagonal_bias]
    first = maps[0] + biases[0]
    second = torch.einsum("cij,cjk->cik", maps[2], maps[1] + biases[1])
    out = (layer.switch[0] * first + layer.switch[1] * second + layer.bias.view(-1, 1, 1)).relu()
    if layer.residual is not None:
        out = out + torch.einsum("oc,cij->oij", layer.residual.weight, h) + layer.residual.bias.view(-1, 1, 1)
    return out


def released_ringgnn(model: Any, h: Tensor) -> Tensor:
    states = [h]
    for layer in model.layers:
        states.append(released_ring_layer(layer, states[-1]))
    return model.head(torch.cat([state.sum((1, 2)) for state in states]))


def released_3wl(model: Any, h: Tensor) -> Tensor:
    output = torch.zeros(model.heads[0].out_features, dtype=h.dtype)

    def mapped(linear: nn.Linear, h: Tensor) -> Tensor:
        return torch.einsum("oc,cij->oij", linear.weight, h) + linear.bias.view(-1, 1, 1)

    for block, head in zip(model.blocks, model.heads, strict=True):
        paths = []
        for maps in (block.left, block.right):
            path = h
            for linear in maps:
                path = mapped(linear, path).relu()
            paths.append(path)
        out = mapped(block.skip, torch.cat([h, paths[0] @ paths[1]]))
        h = out if block.residual is None else out + mapped(block.residual, h)
        off = h - torch.diag_embed(torch.full(h.shape[:2], math.inf, dtype=h.dtype))
        output = output + head(torch.cat([h.diagonal(dim1=1, dim2=2).amax(1), off.amax((1, 2))]))
    return output


RELEASED = {"ringgnn": released_ringgnn, "3wl-gnn": released_3wl}


def randomised(name: str, shapes: Shapes, **settings: Any) -> nn.Module:
    torch.manual_seed(0)
    model = build_model(name, shapes, {"width": 12, "layers": 3, **settings}).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) / 5)
    return model


def simple_graphs() -> GraphSet:
    """Directed graphs of several sizes without loops and parallel edges, with three types of nodes."""
    drawn = [(nodes, edges) for nodes, edges in random_graphs(9, seed=2, max_nodes=7) if nodes > 1]
    graphs = graph_set([(nodes, sorted({(s, t) for s, t in edges if s != t})) for nodes, edges in drawn])
    return graphs.with_column("x", Column(np.arange(graphs.num_nodes) % 3, "node", types=3))


def forward_and_gradients(model: nn.Module, logits: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    model.zero_grad()
    logits.square().sum().backward()
    grads = {k: p.grad if p.grad is not None else torch.zeros_like(p) for k, p in model.named_parameters()}
    return logits.detach(), {key: value.clone() for key, value in grads.items()}


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("data", ["csl", "typed"])
@pytest.mark.parametrize("name", RELEASED)
def test_forward_and_gradients_match_the_released_network(name: str, data: str, residual: bool) -> None:
    if data == "csl":
        graphs, shapes = skip_links([2, 3, 5]), CSL
    else:
        graphs, shapes = simple_graphs(), TYPED
    model = randomised(name, shapes, residual=residual)
    twin = torch.stack(
        [RELEASED[name](model, released_input(graphs, graph, shapes.node_types)) for graph in range(len(graphs))]
    )
    expected, expected_grads = forward_and_gradients(model, twin)
    actual, grads = forward_and_gradients(model, model(whole(graphs)))
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)
    for key, gradient in expected_grads.items():
        torch.testing.assert_close(grads[key], gradient, rtol=1e-8, atol=1e-8, msg=key)


def test_unused_outer_bias_is_counted() -> None:
    released, mended = (randomised("ringgnn", CSL, outer_bias=on) for on in (False, True))
    assert count_parameters(released) == count_parameters(mended)
    mended.load_state_dict(released.state_dict())
    batch = whole(skip_links([2, 3]))
    assert not torch.allclose(released(batch), mended(batch), atol=1e-6)
    released(batch).sum().backward()
    for layer in released.layers:  # type: ignore[union-attr]
        assert not layer.diagonal_bias.grad[2].any()  # type: ignore[union-attr, index]
        assert layer.diagonal_bias.grad[:2].any()  # type: ignore[union-attr, index]


@pytest.mark.parametrize("name", RELEASED)
def test_identity_on_the_diagonal_is_optional(name: str) -> None:
    graphs = skip_links([2, 3])
    model = randomised(name, CSL, featureless="identity")
    inputs = []
    for graph in range(2):
        h = released_input(graphs, graph, 1)
        h[1] = torch.eye(h.shape[-1])
        inputs.append(h)
    expected = torch.stack([RELEASED[name](model, h) for h in inputs])
    torch.testing.assert_close(model(whole(graphs)), expected, rtol=1e-9, atol=1e-9)
    zeros = build_model(name, CSL, {"width": 12, "layers": 3}).double()
    zeros.load_state_dict(model.state_dict())
    assert not torch.allclose(zeros(whole(graphs)), expected, atol=1e-6)


def test_several_types_stay_one_hot() -> None:
    for featureless in ("zeros", "identity"):
        model = randomised("3wl-gnn", TYPED, featureless=featureless)
        graphs = graph_set([(3, [(0, 1), (1, 0), (1, 2), (2, 1)])])
        graphs = graphs.with_column("x", Column(np.array([0, 2, 1]), "node", types=3))
        expected = released_3wl(model, released_input(graphs, 0, 3))
        torch.testing.assert_close(model(whole(graphs))[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", RELEASED)
def test_signs_are_flipped_only_on_request(name: str) -> None:
    def sign(text: str, model: str) -> str:
        encoding = make_encoding(parse_encoding(text, model))
        assert isinstance(encoding, LaplacianPE)
        return encoding.sign

    assert sign("laplacian:20", name) == "fixed"
    assert sign("laplacian:20,sign=random", name) == "random"
    assert sign("laplacian:20,sign=absolute", name) == "absolute"
    assert sign("laplacian:20", "gcn") == "random"


def test_product_starts_with_half_the_inverse_of_the_rounded_mean_size_of_training_graphs() -> None:
    for mean, nodes in ((22.9, 23), (23.0, 23), (23.1, 24)):
        shapes = Shapes(outputs=1, level="graph", node_types=3, mean_nodes=mean)
        model: Any = build_model("ringgnn", shapes, {"width": 8})
        assert model.layers[1].switch.tolist() == pytest.approx([1, 0.5 / nodes])


def test_mean_size_is_over_training_graphs() -> None:
    graphs = graph_set([(nodes, []) for nodes in (2, 3, 7, 50)])
    one = Split(np.array([0, 1]), np.array([2]), np.array([3]))
    other = Split(np.array([1, 2]), np.array([0]), np.array([3]))
    for splits, mean in (((one,), 2.5), ((one, other), 4.0)):
        assert shapes_for(replace(load("csl"), graphs=graphs, splits=splits), None).mean_nodes == mean
