"""Gated mean of GatedGCN: gates, numerator and denominator fused; only the logits are saved per edge."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.linear import column_sums, fits_tiles, matmul_into, row_sum, sum_of_blocks, transposed_matmul
from graphtrial.ops.portable import full_precision, gather, gather_rows, segment_sum, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency

EPSILON = 1e-6
CHUNK = 2048
"""Edges per chunk, so that intermediate results stay in the processor's cache."""


@recordable
@full_precision
def gated_mean(
    graph: GraphBatch,
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Return the gated mean over in-neighbours, and the logits of the gates.

    .. math::
        l_{ji} = source_j + target_i + (weight) \, edge_{ji} + bias, \qquad
        out_i = \frac{\sum_{j \to i} \sigma(l_{ji}) \odot value_j}{\sum_{j \to i} \sigma(l_{ji}) + 10^{-6}}

    source, target, value: [nodes, width]; edge: [edges, width], [1, width] (broadcast to all edges) or None; weight:
    [width, width]; bias: [width] -> [nodes, width], [edges, width].
    """
    if not uses_kernels(value):
        return gated_mean_reference(graph, source, target, edge, value, weight, bias)
    matrix = adjacency(graph)
    mean, logits, _ = _call(source, target, edge, value, weight, bias, matrix.rowptr, matrix.col)
    return mean, logits


def gated_mean_reference(
    graph: GraphBatch,
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Portable path: gates per edge, and the segment sums of numerator and denominator."""
    matrix = adjacency(graph)
    logits = gather(matrix, source) + gather_rows(matrix, target)
    if edge is not None:
        logits = logits + (edge if weight is None else edge @ weight.t())
    if bias is not None:
        logits = logits + bias
    gates = torch.sigmoid(logits)
    top = segment_sum(matrix, gates * gather(matrix, value))
    return top / (segment_sum(matrix, gates) + EPSILON), logits


def _gated_mean(
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    rowptr: Tensor,
    col: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    if edge is not None and _is_broadcast(edge, col):
        target, edge = target + (edge if weight is None else _product(edge, weight, transposed=True)), None
    if bias is not None:
        target = target + bias
    mean, inverse = value.new_empty(value.shape), value.new_empty(value.shape)
    logits = empty(value, len(col), value.shape[1])
    edge, weight = (None, None) if edge is None else _projected(edge, weight)
    inputs = (array(source), array(target), *(None if t is None else array(t) for t in (edge, weight)), array(value))
    outputs = logits.numpy(), mean.numpy(), inverse.numpy()
    run(kernels.gated_mean, 4 * logits.numel(), CHUNK, array(rowptr), array(col), *inputs, EPSILON, *outputs)
    return mean, logits, inverse


def _projected(edge: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return edges and weight, multiplied beforehand where the kernel has no register tile for them."""
    if weight is None or fits_tiles(edge, weight):
        return edge, weight
    return _product(edge, weight, transposed=True), None


def _product(x: Tensor, weight: Tensor, *, transposed: bool) -> Tensor:
    """Return x @ weight, or x @ weight.T if `transposed`, of a square `weight`."""
    out = empty(x, *x.shape)
    matmul_into(x.detach(), weight.detach(), None, out, transposed=transposed)
    return out


def _fake(
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    rowptr: Tensor,
    col: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    return value.new_empty(value.shape), value.new_empty(col.shape[0], value.shape[1]), value.new_empty(value.shape)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, _, edge, value, weight, bias, rowptr, col = inputs
    mean, logits, inverse = output
    ctx.mark_non_differentiable(inverse)
    ctx.set_materialize_grads(False)  # the logits of a last layer have no gradient
    ctx.has_edge, ctx.has_weight, ctx.has_bias = edge is not None, weight is not None, bias is not None
    ctx.save_for_backward(logits, edge, value, weight, mean, inverse, rowptr, col)


def _backward(ctx: Any, grad_mean: Tensor | None, grad_logits: Tensor | None, _: Any) -> tuple[Any, ...]:
    logits, edge, value, weight, mean, inverse, rowptr, col = ctx.saved_tensors
    if grad_mean is None:
        grad_mean = torch.zeros_like(mean)
    grad_source, grad_target, grad_edge, grad_value, grad_weight = _call_backward(
        grad_mean, grad_logits, logits, edge, value, weight, mean, inverse, rowptr, col
    )
    return (
        grad_source,
        grad_target,
        grad_edge if ctx.has_edge else None,
        grad_value,
        grad_weight if ctx.has_weight else None,
        row_sum(grad_target)[0] if ctx.has_bias else None,
        None,
        None,
    )


def _gated_mean_backward(
    grad_mean: Tensor,
    grad_logits: Tensor | None,
    logits: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    rowptr: Tensor,
    col: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    per_edge = edge is not None and not _is_broadcast(edge, col)
    fused = per_edge and edge is not None and weight is not None and fits_tiles(edge, weight)
    pointers, columns = array(rowptr), array(col)
    groups = kernels.independent_rows(pointers, columns)
    grad_source, grad_value = torch.zeros_like(value), torch.zeros_like(value)
    grad_target = value.new_empty(value.shape)
    grad_edge = empty(value, len(col) if per_edge else 0, value.shape[1])
    grad_weights = value.new_empty(len(groups) - 1, *value.shape[1:] * 2) if fused else None
    matrices = (edge if per_edge else None), (weight if fused else None)
    edges, weights = (None if t is None else array(t) for t in matrices)
    inputs = array(logits), edges, weights, array(value), array(mean), array(inverse), array(grad_mean)
    more = None if grad_logits is None else array(grad_logits)
    outputs = grad_edge.numpy(), None if grad_weights is None else grad_weights.numpy()
    nodes = grad_target.numpy(), grad_source.numpy(), grad_value.numpy()
    division, work = (CHUNK, groups), 8 * logits.numel()
    run(kernels.gated_mean_backward, work, *division, pointers, columns, *inputs, more, *outputs, *nodes)
    if edge is None:
        return grad_source, grad_target, value.new_empty(0), grad_value, value.new_empty(0)
    if not per_edge:
        grad_edge = column_sums(grad_target).unsqueeze(0)
        if weight is None:
            return grad_source, grad_target, grad_edge, grad_value, value.new_empty(0)
        grad_weight = torch.outer(grad_edge[0], edge[0])
        return grad_source, grad_target, _product(grad_edge, weight, transposed=False), grad_value, grad_weight
    if weight is None:
        return grad_source, grad_target, grad_edge, grad_value, value.new_empty(0)
    if grad_weights is not None:
        return grad_source, grad_target, grad_edge, grad_value, sum_of_blocks(grad_weights)
    grad_weight = transposed_matmul(grad_edge, edge.detach())[0]
    return grad_source, grad_target, _product(grad_edge, weight, transposed=False), grad_value, grad_weight


def _fake_backward(
    grad_mean: Tensor,
    grad_logits: Tensor | None,
    logits: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    rowptr: Tensor,
    col: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    grad_nodes, no_grad = value.new_empty(value.shape), value.new_empty(0)
    grad_edge = no_grad if edge is None else edge.new_empty(edge.shape)
    grad_weight = torch.empty_like(no_grad) if weight is None else weight.new_empty(weight.shape)
    return grad_nodes, torch.empty_like(grad_nodes), grad_edge, torch.empty_like(grad_nodes), grad_weight


def _is_broadcast(edge: Tensor, col: Tensor) -> bool:
    return edge.shape[0] == 1 and col.shape[0] != 1


_call = register_op(_gated_mean, _fake, _setup, _backward)
_call_backward = register_op(_gated_mean_backward, _fake_backward)
