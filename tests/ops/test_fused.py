"""Every fused operator against its reference in plain torch, with gradients, in double precision."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np
import pytest
import torch
from tests.helpers.samples import DEGENERATE, batch_of, random_graphs, vectors
from tests.helpers.sampling import rotating
from torch import Tensor
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.ops.add_row import add_row
from graphtrial.ops.attention import attention, attention_reference
from graphtrial.ops.attention_scores import attention_scores, attention_scores_reference
from graphtrial.ops.batch_norm import batch_norm, batch_norm_reference
from graphtrial.ops.custom_op import LARGE, empty
from graphtrial.ops.edge_softmax import edge_softmax, edge_softmax_reference
from graphtrial.ops.gated_mean import gated_mean, gated_mean_reference
from graphtrial.ops.gaussian_weights import gaussian_weights, gaussian_weights_reference
from graphtrial.ops.l2_normalize import l2_normalize, l2_normalize_reference
from graphtrial.ops.linear import linear
from graphtrial.ops.mixture_sum import mixture_sum, mixture_sum_reference
from graphtrial.ops.modulated_relu import modulated_relu, modulated_relu_reference
from graphtrial.ops.portable import portable_path
from graphtrial.ops.sparse_matrix import adjacency, membership
from graphtrial.ops.spmm import spmm, spmm_reference
from graphtrial.ops.spmm_max import spmm_max, spmm_max_reference

LISTS = {
    "degenerate": DEGENERATE,
    **{f"random-{seed}": random_graphs(8, seed) for seed in range(4)},
    "no edges": [(3, [])],
}
WIDTHS = (1, 5, 40)

Function = Callable[..., Tensor | tuple[Tensor, ...]]
Case = tuple[tuple[Function, Function], list[Tensor]]


def _case(name: str, batch: GraphBatch, width: int) -> Case:
    """Return the fused function and its reference, and differentiable inputs for both."""
    nodes, count = batch.num_nodes, batch.num_edges
    x = vectors(nodes, width)
    matrix = adjacency(batch)
    if name == "SpMM":
        return _both(spmm, spmm_reference, matrix), [x, vectors(count, 1, 1)[:, 0]]
    if name == "SpMM with self weight":
        inputs = [x, vectors(count, 1, 1)[:, 0], vectors(1, 1, 2)[0, 0]]
        return _both(spmm, spmm_reference, matrix), inputs
    if name == "SpMM with heads":
        heads = vectors(nodes, 3 * width).reshape(nodes, 3, width)
        return _both(spmm, spmm_reference, matrix), [heads, vectors(count, 3, 1)]
    if name == "pooling":
        return _both(spmm, spmm_reference, membership(batch)), [x, vectors(nodes, 1, 1)[:, 0]]
    if name == "SpMM max":
        return _both(spmm_max, spmm_max_reference, matrix), [x]
    if name == "softmax":
        return _both(edge_softmax, edge_softmax_reference, batch), [vectors(count, width)]
    if name == "L2 normalize":
        return (l2_normalize, l2_normalize_reference), [x]
    if name == "modulated ReLU":
        return (modulated_relu, modulated_relu_reference), [x, vectors(nodes, 2 * width, 1)]
    if name.startswith("linear"):
        rows = vectors(max(nodes, 12) if name == "linear" else 40, width)
        maps = [vectors(17, width, 1), vectors(1, 17, 2)[0]]
        return (linear, F.linear), [rows, *maps]
    if name.startswith("attention"):
        heads = {"attention": 3, "attention with many heads": 10, "attention with one head": 1}[name]
        inputs = [
            vectors(count, heads * width, seed).reshape(count, heads, width) for seed, count in enumerate((nodes, 1, 1))
        ]
        return (
            (lambda z, s, t: attention(batch, z, s[0], t[0], 0.2)),
            (lambda z, s, t: attention_reference(batch, z, s[0], t[0], 0.2)),
        ), inputs
    if name == "scores of attention":
        z, source, target = (vectors(n, 2 * width, at).reshape(n, 2, width) for at, n in enumerate((nodes, 1, 1)))
        return (
            (lambda z, s, t: attention_scores(batch, z, s[0], t[0], 0.2)),
            (lambda z, s, t: attention_scores_reference(batch, z, s[0], t[0], 0.2)),
        ), [z, source, target]
    if name == "Gaussian weights":
        parameters = [vectors(2, 2), vectors(1, 2, 1)[0], vectors(width, 2, 2), vectors(width, 2, 3)]
        return _both(gaussian_weights, gaussian_weights_reference, batch), parameters
    if name == "mixture sum":
        z = vectors(nodes, 3 * width).reshape(nodes, 3, width)
        return _both(mixture_sum, mixture_sum_reference, batch), [z, vectors(count, 3, 1)]
    if name == "added row":
        return (add_row, lambda x, row: x + row), [x, vectors(1, width, 1)[0]]
    if name == "gated mean":
        inputs = [x, vectors(nodes, width, 1), vectors(count, width, 2), vectors(nodes, width, 3)]
        return _both(gated_mean, gated_mean_reference, batch), inputs
    if name in ("gated mean with edge weights", "gated mean with a broadcast edge vector"):
        rows = 1 if name.endswith("broadcast edge vector") else count
        inputs = [x, vectors(nodes, width, 1), vectors(rows, width, 2), vectors(nodes, width, 3)]
        maps = [vectors(width, width, 4), vectors(1, width, 5)[0]]
        return _both(gated_mean, gated_mean_reference, batch), inputs + maps
    if name == "gated mean without edge vectors":
        inputs = [x, vectors(nodes, width, 1), vectors(nodes, width, 3)]
        return (
            (lambda s, t, v: gated_mean(batch, s, t, None, v)),
            (lambda s, t, v: gated_mean_reference(batch, s, t, None, v)),
        ), inputs
    inputs = [x, vectors(1, width, 1)[0], vectors(1, width, 2)[0]]
    kind = {"batch norm and ELU": "elu", "batch norm without activation": "none"}.get(name, "relu")
    inputs += [vectors(1 if name == "batch norm with a broadcast residual" else nodes, width, 3)]
    return (
        (lambda x, w, b, r: batch_norm(x, w, b, r, 1e-5, kind)),
        (lambda x, w, b, r: batch_norm_reference(x, w, b, r, 1e-5, kind)),
    ), inputs


def _both(fused: Function, reference: Function, first: object) -> tuple[Function, Function]:
    return (lambda *inputs: fused(first, *inputs)), (lambda *inputs: reference(first, *inputs))


NAMES = (
    "SpMM",
    "SpMM with self weight",
    "SpMM with heads",
    "linear",
    "pooling",
    "SpMM max",
    "softmax",
    "attention",
    "attention with many heads",
    "attention with one head",
    "scores of attention",
    "Gaussian weights",
    "mixture sum",
    "added row",
    "gated mean",
    "gated mean with edge weights",
    "gated mean with a broadcast edge vector",
    "gated mean without edge vectors",
    "batch norm",
    "batch norm and ELU",
    "batch norm without activation",
    "batch norm with a broadcast residual",
    "L2 normalize",
    "modulated ReLU",
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "graphs", "width"), rotating(NAMES, LISTS, WIDTHS))
def test_values_and_gradients_match_the_reference(name: str, graphs: str, width: int) -> None:
    _compare(*_case(name, batch_of(LISTS[graphs]), width))


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("batch norm")])
def test_without_nodes_values_and_gradients_match_the_reference(name: str) -> None:
    """Sums over no rows are 0, also those of gradients of weights."""
    _compare(*_case(name, batch_of([(0, [])]), 5))


def _compare(functions: tuple[Function, Function], inputs: list[Tensor]) -> None:
    fused, reference = functions
    ours = [value.clone().requires_grad_() for value in inputs]
    theirs = [value.clone().requires_grad_() for value in inputs]
    actual, expected = _tuple(fused(*ours)), _tuple(reference(*theirs))
    torch.testing.assert_close(actual, expected)
    weights = [torch.randn(value.shape, dtype=value.dtype) for value in expected]
    for outputs in (actual, expected):
        sum((o * w).sum() for o, w in zip(outputs, weights, strict=True) if o.requires_grad).backward()
    torch.testing.assert_close([value.grad for value in ours], [value.grad for value in theirs])


@pytest.mark.slow
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
    actual = _tuple(fused(*(value.float() for value in inputs)))
    expected = _tuple(reference(*inputs))
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("portable", [False, True], ids=["kernels", "portable"])
@pytest.mark.parametrize("name", NAMES)
def test_torch_compile_equals_eager(name: str, portable: bool) -> None:
    """Through the registered operators or the path of other devices, without a graph break, with gradients."""
    with portable_path(portable):
        _compare_compiled(name)


def _compare_compiled(name: str) -> None:
    torch._dynamo.reset()  # all cases share one function's code, which may be compiled eight times
    (fused, _), inputs = _case(name, batch_of(random_graphs(4, 2)), 4)
    ours = [value.clone().requires_grad_() for value in inputs]
    eager = [value.clone().requires_grad_() for value in inputs]
    compiled = torch.compile(fused, backend="aot_eager", fullgraph=True)
    actual, expected = _tuple(compiled(*ours)), _tuple(fused(*eager))
    torch.testing.assert_close(actual, expected)
    for outputs in (actual, expected):
        sum(o.square().sum() for o in outputs if o.requires_grad).backward()
    torch.testing.assert_close([value.grad for value in ours], [value.grad for value in eager])


@pytest.mark.slow
def test_every_operator_passes_the_checks_of_torch() -> None:
    batch = batch_of(random_graphs(4, 3))
    matrix = adjacency(batch)
    x = vectors(batch.num_nodes, 4).requires_grad_()
    edge = vectors(batch.num_edges, 4).requires_grad_()
    weight = vectors(batch.num_edges, 1)[:, 0].requires_grad_()
    row = vectors(1, 4)[0].requires_grad_()
    heads = vectors(batch.num_nodes, 6).reshape(-1, 2, 3).requires_grad_()
    square, many = vectors(12, 12).requires_grad_(), vectors(30, 12).requires_grad_()
    operators = torch.ops.graphtrial
    pointers = matrix.rowptr, matrix.col, matrix.colptr, matrix.row, batch.out_order
    seed = torch.tensor([1])
    for operator, arguments in (
        (operators.spmm, (x, weight, row[0], *matrix.tensors)),
        (operators.spmm_max, (x, matrix.rowptr, matrix.col)),
        (operators.edge_softmax, (edge, matrix.rowptr)),
        (operators.l2_normalize, (x,)),
        (operators.linear, (many, square, square[0])),
        (operators.modulated_relu, (x, torch.cat([x, x], dim=1).detach().requires_grad_())),
        (operators.attention, (heads, heads[0], heads[1], 0.2, *pointers)),
        (operators.gated_mean, (x, x, edge, x, square[:4, :4], row, matrix.rowptr, matrix.col)),
        (operators.batch_norm, (x, row, row, x, 1e-5, "elu")),
        (operators.dropout, (x, seed, 30_000)),
    ):
        torch.library.opcheck(operator.default, arguments)


@pytest.mark.parametrize("width", [7, 8, 9, 15, 17, 64, 65, 71, 110, 145])
def test_spmm_of_any_width_equals_the_reference(width: int) -> None:
    batch = batch_of(LISTS["random-1"])
    (fused, reference), inputs = _case("SpMM with self weight", batch, width)
    torch.testing.assert_close(fused(*inputs), reference(*inputs))


@pytest.mark.parametrize("width", [5, 14])
def test_result_does_not_depend_on_chunk_size(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(LISTS["random-0"])
    (fused, _), inputs = _case("gated mean with edge weights", batch, width)
    actual = []
    for size in (1, 7, 1 << 20):
        monkeypatch.setattr(importlib.import_module("graphtrial.ops.gated_mean"), "CHUNK", size)
        given = [value.clone().requires_grad_() for value in inputs]
        mean, logits = fused(*given)
        (mean.square().sum() + logits.square().sum()).backward()
        actual.append([mean, logits, *(value.grad for value in given)])
    torch.testing.assert_close(actual[0], actual[2])
    torch.testing.assert_close(actual[1], actual[2])


def test_large_tensors_are_allocated_in_reusable_blocks() -> None:
    like = torch.empty(0, dtype=torch.float64)
    assert empty(like, 3, 5).shape == (3, 5)
    large = empty(like, LARGE + 1, 3)
    assert (large.shape, large.dtype, large.is_contiguous()) == ((LARGE + 1, 3), torch.float64, True)
    assert not large._is_view()  # so that it may be changed in place


def test_nan_propagates_through_batch_norm_and_relu() -> None:
    x = torch.ones(4, 9)
    x[2, 3] = torch.nan
    out, _ = batch_norm(x, torch.ones(9), torch.zeros(9), None, 1e-5, "relu")
    assert out[:, 3].isnan().all()
    assert not out[:, :3].isnan().any()


def test_no_kernel_reads_uninitialised_memory() -> None:
    batch = batch_of(DEGENERATE)
    (fused, _), inputs = _case("gated mean", batch, 5)
    first = _tuple(fused(*inputs))
    rubbish = [torch.full((1 << 16,), float("nan")) for _ in range(20)]
    del rubbish
    torch.testing.assert_close(_tuple(fused(*inputs)), first, rtol=0, atol=0)


def _tuple(value: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return value if isinstance(value, tuple) else (value,)
