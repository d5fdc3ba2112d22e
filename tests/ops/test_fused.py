"""Every fused kernel against its reference in plain torch, with gradients, in double precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import gated, maximum, norm, softmax, spmm
from graphtrial.ops.csr import edges, members
from samples import AWKWARD, batch_of, random_graphs, vectors

LISTS = {"awkward": AWKWARD, **{f"random-{seed}": random_graphs(8, seed) for seed in range(4)}, "no edges": [(3, [])]}
WIDTHS = (1, 5, 40)

Function = Callable[..., Tensor | tuple[Tensor, ...]]
Case = tuple[tuple[Function, Function], list[Tensor]]


def _case(name: str, batch: GraphBatch, width: int) -> Case:
    """Return the fused function and its reference, and differentiable inputs for both."""
    nodes, count = batch.num_nodes, batch.num_edges
    x = vectors(nodes, width)
    matrix = edges(batch)
    if name == "weighted sum":
        return _both(spmm.weighted_sum, spmm.weighted_sum_reference, matrix), [x, vectors(count, 1, 1)[:, 0]]
    if name == "weighted sum with own share":
        inputs = [x, vectors(count, 1, 1)[:, 0], vectors(1, 1, 2)[0, 0]]
        return _both(spmm.weighted_sum, spmm.weighted_sum_reference, matrix), inputs
    if name == "weighted sum of heads":
        heads = vectors(nodes, 3 * width).reshape(nodes, 3, width)
        return _both(spmm.weighted_sum, spmm.weighted_sum_reference, matrix), [heads, vectors(count, 3, 1)]
    if name == "pooling":
        return _both(spmm.weighted_sum, spmm.weighted_sum_reference, members(batch)), [x, vectors(nodes, 1, 1)[:, 0]]
    if name == "maximum":
        return _both(maximum.maximum, maximum.maximum_reference, matrix), [x]
    if name == "softmax":
        return _both(softmax.edge_softmax, softmax.edge_softmax_reference, batch), [vectors(count, width)]
    if name == "gated mean":
        inputs = [x, vectors(nodes, width, 1), vectors(count, width, 2), vectors(nodes, width, 3)]
        return _both(gated.gated_mean, gated.gated_mean_reference, batch), inputs
    inputs = [x, vectors(1, width, 1)[0], vectors(1, width, 2)[0], vectors(nodes, width, 3)]
    return (
        (lambda x, w, b, r: norm.batch_norm_relu(x, w, b, r, 1e-5)),
        (lambda x, w, b, r: norm.batch_norm_relu_reference(x, w, b, r, 1e-5)),
    ), inputs


def _both(fused: Function, reference: Function, first: object) -> tuple[Function, Function]:
    return (lambda *inputs: fused(first, *inputs)), (lambda *inputs: reference(first, *inputs))


NAMES = (
    "weighted sum",
    "weighted sum with own share",
    "weighted sum of heads",
    "pooling",
    "maximum",
    "softmax",
    "gated mean",
    "norm",
)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("graphs", LISTS)
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_equal_those_of_the_reference(name: str, graphs: str, width: int) -> None:
    (fused, reference), inputs = _case(name, batch_of(LISTS[graphs]), width)
    ours = [value.clone().requires_grad_() for value in inputs]
    theirs = [value.clone().requires_grad_() for value in inputs]
    found, expected = _tuple(fused(*ours)), _tuple(reference(*theirs))
    torch.testing.assert_close(found, expected)
    weights = [torch.randn(value.shape, dtype=value.dtype) for value in expected]
    for outputs in (found, expected):
        sum((o * w).sum() for o, w in zip(outputs, weights, strict=True) if o.requires_grad).backward()
    torch.testing.assert_close([value.grad for value in ours], [value.grad for value in theirs])


@pytest.mark.parametrize("name", NAMES)
def test_gradients_equal_finite_differences(name: str) -> None:
    (fused, _), inputs = _case(name, batch_of(random_graphs(3, 1)), 2)
    differentiable = [value.clone().requires_grad_() for value in inputs]

    def outputs(*given: Tensor) -> tuple[Tensor, ...]:
        return tuple(value for value in _tuple(fused(*given)) if value.requires_grad)

    assert torch.autograd.gradcheck(outputs, differentiable)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_agrees_with_double(name: str) -> None:
    (fused, reference), inputs = _case(name, batch_of(random_graphs(8, 0)), 33)
    found = _tuple(fused(*(value.float() for value in inputs)))
    expected = _tuple(reference(*inputs))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_it_compiles(name: str) -> None:
    """Through the registered operators, without a graph break, with gradients."""
    (fused, _), inputs = _case(name, batch_of(random_graphs(4, 2)), 4)
    ours = [value.clone().requires_grad_() for value in inputs]
    eager = [value.clone().requires_grad_() for value in inputs]
    compiled = torch.compile(fused, backend="aot_eager", fullgraph=True)
    found, expected = _tuple(compiled(*ours)), _tuple(fused(*eager))
    torch.testing.assert_close(found, expected)
    for outputs in (found, expected):
        sum(o.square().sum() for o in outputs if o.requires_grad).backward()
    torch.testing.assert_close([value.grad for value in ours], [value.grad for value in eager])


def test_every_operator_passes_the_checks_of_torch() -> None:
    batch = batch_of(random_graphs(4, 3))
    matrix = edges(batch)
    x = vectors(batch.num_nodes, 4).requires_grad_()
    edge = vectors(batch.num_edges, 4).requires_grad_()
    weight = vectors(batch.num_edges, 1)[:, 0].requires_grad_()
    row = vectors(1, 4)[0].requires_grad_()
    structure = (matrix.ptr, matrix.index, matrix.t_ptr, matrix.t_index, matrix.t_order)
    operators = torch.ops.graphtrial
    for operator, arguments in (
        (operators.weighted_sum, (x, weight, row[0], *matrix.tensors)),
        (operators.maximum, (x, matrix.ptr, matrix.index)),
        (operators.edge_softmax, (edge, matrix.ptr)),
        (operators.gated_mean, (x, x, edge, x, *structure)),
        (operators.batch_norm_relu, (x, row, row, x, 1e-5)),
    ):
        torch.library.opcheck(operator.default, arguments)


def test_no_kernel_depends_on_what_memory_held_before() -> None:
    batch = batch_of(AWKWARD)
    (fused, _), inputs = _case("gated mean", batch, 5)
    first = _tuple(fused(*inputs))
    rubbish = [torch.full((1 << 16,), float("nan")) for _ in range(20)]
    del rubbish
    torch.testing.assert_close(_tuple(fused(*inputs)), first, rtol=0, atol=0)


def _tuple(value: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return value if isinstance(value, tuple) else (value,)
