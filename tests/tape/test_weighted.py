"""Recorded programs of GAT and MoNet: options, and PyG's layers in their place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from tests.helpers.programs import BATCHES, assert_equal, both, build, is_recorded
from tests.helpers.samples import batch_of
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GMMConv

from graphtrial.core.process import compute_settings
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.gat import GAT
from graphtrial.nn.conv.monet import MoNet
from graphtrial.tape.runner import TapedModel


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *(("gat", {"heads": heads, "dropout": rate}) for heads in (1, 2, 3, 8) for rate in (0.0, 0.4)),
        ("gat", {"heads": 4, "bias": True}),
        ("gat", {"heads": 4, "graph_norm": True, "residual": False}),
        *(("monet", {"kernels": kernels, "dropout": 0.2}) for kernels in (1, 2, 3)),
        ("monet", {"batch_norm": False}),
    ],
)
def test_settings_of_the_layers_are_recorded(name: str, settings: dict[str, Any]) -> None:
    ours, theirs, taped = both(build(name, **settings))
    assert is_recorded(taped)
    assert_equal(ours, theirs)


def test_attention_with_more_heads_than_lanes_takes_the_ordinary_path() -> None:
    ours, theirs, taped = both(build("gat", heads=12))
    assert not is_recorded(taped)
    assert_equal(ours, theirs)


class OfPyG(nn.Module):
    """A layer of this package, computed by that of PyG with the same parameters."""

    def __init__(self, layer: GAT | MoNet) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        layer, width = self.layer, x.shape[1]
        if isinstance(layer, GAT):
            heads = layer.source.shape[1]
            theirs = GATConv(width, width // heads, heads=heads, add_self_loops=False, bias=False)
            named = {"att_src": layer.source, "att_dst": layer.target, "lin.weight": layer.linear.weight}
            inputs: tuple[Tensor, ...] = (x, graph.edge_index)
        else:
            theirs = GMMConv(width, width, dim=2, kernel_size=len(layer.mean), aggr="add", bias=False)
            named = {
                "g": layer.linear.weight.T,
                "mu": layer.mean,
                "sigma": 1 / layer.inverse_width,
                "root.weight": x.new_zeros(width, width),
            }
            degree = torch.bincount(graph.edge_index[1], minlength=graph.num_nodes) + 1
            ends = degree.to(x.dtype).rsqrt()[graph.edge_index].T
            inputs = (x, graph.edge_index, torch.tanh(ends @ layer.pseudo.weight.T + layer.pseudo.bias))
        return torch.func.functional_call(theirs, named, inputs), e


@pytest.mark.parametrize(
    ("name", "settings"), [("gat", {"heads": 1}), ("gat", {"heads": 8}), ("monet", {}), ("monet", {"kernels": 2})]
)
def test_gradients_of_the_program_match_those_of_pyg(name: str, settings: dict[str, Any]) -> None:
    model = build(name, encoding_dim=0, **settings)
    other = copy.deepcopy(model).double()
    for block in other.blocks:  # type: ignore[union-attr]
        conv = block.conv  # type: ignore[union-attr]
        wrapped = OfPyG(conv)  # type: ignore[arg-type]
        conv.forward = wrapped.forward  # type: ignore[union-attr, assignment]
    taped = TapedModel(model)
    with compute_settings():
        for batch in BATCHES:
            model.zero_grad()
            other.zero_grad()
            logits, expected = taped(batch), other(batch)
            torch.testing.assert_close(logits.double(), expected, rtol=1e-4, atol=1e-4)
            logits.square().sum().backward()
            expected.square().sum().backward()
            for (label, mine), (_, their) in zip(model.named_parameters(), other.named_parameters(), strict=True):
                assert mine.grad is not None, label
                assert their.grad is not None, label
                scale = float(their.grad.abs().max()) + 1e-6
                torch.testing.assert_close(mine.grad.double() / scale, their.grad / scale, rtol=0, atol=2e-4, msg=label)
    assert is_recorded(taped)


@pytest.mark.parametrize("name", ["gat", "monet"])
def test_nodes_without_in_edges_and_graphs_without_edges(name: str) -> None:
    star = [(0, leaf) for leaf in range(1, 14)]  # the centre has no in-edges
    batch = batch_of([(14, star), (3, []), (2, [(0, 1)])])
    model = build(name)
    other = copy.deepcopy(model)
    taped = TapedModel(model)
    for call in (taped, other):
        call(batch).square().sum().backward()
    assert taped._programs[True] is not None
    assert taped._programs[True].fits(batch)
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert_equal([p.grad for p in model.parameters()], [p.grad for p in other.parameters()])  # type: ignore[misc]
    bare = batch_of([(20, []), (3, [])])
    assert not taped._programs[True].fits(bare)
    torch.testing.assert_close(taped(bare), other(bare), rtol=0, atol=0)
