"""The loop over single graphs, the baseline of dense models in the benchmark, matches them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from benchmarks.data import molecules
from benchmarks.dense import RingLoop, ThreeWLLoop, _single, dense
from benchmarks.entries import DENSE
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model

DATA = molecules(12)
SHAPES = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)


def loop_output(loop: nn.Module) -> Tensor:
    return torch.cat([loop(dense(*_single(DATA, graph)[:3])) for graph in range(len(DATA))])


def copy(into: nn.Module, given: Tensor, name: str = "weight") -> None:
    target = getattr(into, name)
    target.data.copy_(given.reshape(target.shape))


@pytest.mark.parametrize("entry", DENSE, ids=lambda entry: entry.name)
def test_loop_has_parameter_count_of_the_model(entry):
    loop = (ThreeWLLoop if entry.name == "3wl-gnn" else RingLoop)(entry.zinc, entry.layers)
    model = build_model(entry.name, SHAPES, {"width": entry.zinc, "layers": entry.layers})
    assert sum(p.numel() for p in loop.parameters()) == sum(p.numel() for p in model.parameters())


@pytest.mark.slow
def test_loop_of_3wl_gnn_matches():
    torch.manual_seed(0)
    model, loop = build_model("3wl-gnn", SHAPES, {"width": 12, "layers": 2}), ThreeWLLoop(12, 2)
    for block, (left, right, skip), head, other in zip(model.blocks, loop.blocks, model.heads, loop.heads, strict=True):
        for maps, path in ((block.left, left), (block.right, right)):
            for linear, conv in zip(maps, (path[0], path[2]), strict=True):
                copy(conv, linear.weight)
                copy(conv, linear.bias, "bias")
        for ours, theirs in ((block.skip, skip), (head, other)):
            copy(theirs, ours.weight)
            copy(theirs, ours.bias, "bias")
    batch = GraphBatch.from_set(DATA, range(len(DATA)))
    torch.testing.assert_close(loop_output(loop), model(batch), rtol=1e-4, atol=1e-4)


def test_loop_of_ringgnn_matches():
    torch.manual_seed(0)
    model, loop = build_model("ringgnn", SHAPES, {"width": 12, "layers": 2}), RingLoop(12, 2)
    for at, layer in enumerate(model.layers):
        with torch.no_grad():
            layer.diagonal_bias.normal_()
            layer.bias.normal_()
        for name, given in (
            ("coefficients", layer.coefficients),
            ("diagonal", layer.diagonal_bias),
            ("bias", layer.bias),
            ("switch", layer.switch),
        ):
            copy(getattr(loop, name), given, str(at))
    loop.head.load_state_dict(model.head.state_dict())
    batch = GraphBatch.from_set(DATA, range(len(DATA)))
    expected = model(batch)
    torch.testing.assert_close(loop_output(loop), expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())
