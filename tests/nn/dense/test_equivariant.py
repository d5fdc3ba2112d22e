"""RingGNN's fifteen operations and its layer against loops over single numbers."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.dense_oracles import batched, bucket_of, fifteen_operations, slow_ring_layer
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, batch_of, random_graphs
from torch import Tensor

from graphtrial.graphs.pairs.buckets import bucket_plan
from graphtrial.nn.dense import equivariant
from graphtrial.nn.dense.pair_input import PairInput
from graphtrial.nn.dense.ring_layer import PairNorm, RingLayer
from graphtrial.nn.shapes import Shapes

SIZES = [4, 1, 3]


def matrices(channels: int, seed: int = 0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(channels, n, n, dtype=torch.float64, generator=generator) for n in SIZES]


def ring_layer(inputs: int, width: int, **settings: bool) -> RingLayer:
    torch.manual_seed(1)
    chosen = {"layer_norm": False, "residual": False, **settings}
    layer = RingLayer(inputs, width, product_weight=0.3, dropout=0.0, **chosen).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
    return layer


@pytest.mark.parametrize("operation", range(equivariant.OPERATIONS))
def test_operations_match_naive_loops(operation: int) -> None:
    graphs, bucket = matrices(2), bucket_of(SIZES)
    coefficients = torch.zeros(1, 2, 2, equivariant.OPERATIONS, dtype=torch.float64)
    coefficients[0, :, :, operation] = torch.eye(2)
    out = equivariant.apply(*equivariant.contract(coefficients), batched(graphs), bucket)
    for at, h in enumerate(graphs):
        n = h.shape[-1]
        torch.testing.assert_close(out[:, at, :n, :n], fifteen_operations(h)[operation])


@pytest.mark.parametrize("outer_bias", [False, True])
def test_layer_equals_the_loop_on_graphs_of_mixed_sizes(outer_bias: bool) -> None:
    graphs, layer = matrices(3), ring_layer(3, 5, outer_bias=outer_bias)
    out = layer(batched(graphs), bucket_of(SIZES), layer.contracted())
    for at, h in enumerate(graphs):
        n = h.shape[-1]
        torch.testing.assert_close(out[:, at, :n, :n], slow_ring_layer(layer, h))
        assert not out[:, at, n:].any()
        assert not out[:, at, :, n:].any()


@pytest.mark.parametrize("residual", [False, True])
def test_sparse_input_matches_dense_input(residual: bool) -> None:
    batch = batch_of([*DEGENERATE, *random_graphs(5, seed=1)])
    shapes = Shapes(outputs=1, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)
    built = PairInput(shapes, edge_features=True)
    layer = ring_layer(built.channels, 4, residual=residual)
    for padding_cost in (0, 10**6):
        for entries in built.read(batch, bucket_plan(batch, 10**6, padding_cost), torch.float64):
            weights = layer.contracted()
            whole = layer(entries.dense(), entries.bucket, weights)
            torch.testing.assert_close(layer(entries, entries.bucket, weights), whole)


def test_norm_matches_single_graphs() -> None:
    graphs, norm = matrices(2), PairNorm(2).double()
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([2.0, -1.0]))
        norm.bias.copy_(torch.tensor([0.5, 3.0]))
    out = norm(batched(graphs), bucket_of(SIZES))
    for at, h in enumerate(graphs):
        n = h.shape[-1]
        mean, variance = h.mean((1, 2), keepdim=True), h.var((1, 2), correction=0, keepdim=True)
        scaled = (h - mean) / (variance + 1e-6).sqrt()
        expected = norm.weight.view(-1, 1, 1) * scaled + norm.bias.view(-1, 1, 1)
        torch.testing.assert_close(out[:, at, :n, :n], expected)


@pytest.mark.slow
@pytest.mark.parametrize(("layer_norm", "residual"), [(False, False), (True, True)])
def test_backward_passes_gradcheck(layer_norm: bool, residual: bool) -> None:
    layer = ring_layer(2, 2, layer_norm=layer_norm, residual=residual)
    bucket = bucket_of([2, 3])
    mask = bucket.pair_mask(torch.float64)
    h = torch.randn(2, 2, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(4)).requires_grad_()

    def run(h: Tensor, coefficients: Tensor, switch: Tensor) -> Tensor:
        swapped = {"coefficients": coefficients, "switch": switch}
        return torch.func.functional_call(
            _Bound(layer, bucket), {f"layer.{k}": v for k, v in swapped.items()}, h * mask
        )

    assert torch.autograd.gradcheck(run, (h, layer.coefficients, layer.switch))


class _Bound(torch.nn.Module):
    def __init__(self, layer: RingLayer, bucket: object) -> None:
        super().__init__()
        self.layer, self.bucket = layer, bucket

    def forward(self, h: Tensor) -> Tensor:
        return self.layer(h, self.bucket, self.layer.contracted())


def test_initialization_matches_the_reference() -> None:
    torch.manual_seed(0)
    layer = RingLayer(30, 50, product_weight=0.02, layer_norm=True, residual=False, dropout=0.0)
    assert layer.coefficients.std().item() == pytest.approx((2 / 80) ** 0.5, rel=0.02)
    assert abs(layer.coefficients.mean().item()) < 1e-3
    assert layer.switch.tolist() == pytest.approx([1, 0.02])
    assert not layer.bias.any()
    assert not layer.diagonal_bias.any()
