"""Gated mean of GatedGCN: gates, numerator and denominator fused; only the logits are saved per edge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.linear import add_transposed_matmul, matmul_into
from graphtrial.ops.portable import full_precision, gather, gather_rows, segment_sum, uses_kernels
from graphtrial.ops.sparse_matrix import adjacency

EPSILON = 1e-6
CHUNK = 2048
"""Edges per chunk, so that intermediate results stay in the processor's cache."""


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
        target, edge = target + (edge if weight is None else edge @ weight.t()), None
    if bias is not None:
        target = target + bias
    mean, inverse = value.new_empty(value.shape), value.new_empty(value.shape)
    logits = empty(value, len(col), value.shape[1])
    sources, targets, values = array(source), array(target), array(value)
    means, inverses, all_logits = mean.numpy(), inverse.numpy(), logits.numpy()
    pointers, columns = array(rowptr), array(col)
    gate = np.empty((_max_chunk(pointers), value.shape[1]), values.dtype)
    for first, last, begin, end in _chunks(pointers):
        if edge is not None and weight is not None:
            matmul_into(edge[begin:end], weight, logits[begin:end], transposed=True)
        elif edge is not None:
            logits[begin:end] = edge[begin:end]
        kernels.gated_mean(
            pointers[first : last + 1],
            columns[begin:end],
            sources,
            targets[first:last],
            values,
            edge is not None,
            EPSILON,
            all_logits[begin:end],
            gate[: end - begin],
            means[first:last],
            inverses[first:last],
        )
    return mean, logits, inverse


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
        grad_target.sum(dim=0) if ctx.has_bias else None,
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

    grad_source, grad_value = torch.zeros_like(value), torch.zeros_like(value)
    grad_target = value.new_empty(value.shape)
    grad_edge = value.new_empty(0) if edge is None else empty(edge, *edge.shape)
    grad_weight = value.new_empty(0) if weight is None else torch.zeros_like(weight)
    pointers, columns, values, all_logits = array(rowptr), array(col), array(value), array(logits)
    means, inverses, grad_means = array(mean), array(inverse), array(grad_mean)
    grad_logits_array = None if grad_logits is None else array(grad_logits)
    grad_sources, grad_targets, grad_values = grad_source.numpy(), grad_target.numpy(), grad_value.numpy()
    per_edge = edge is not None and not _is_broadcast(edge, col)
    gate = np.empty((_max_chunk(pointers), value.shape[1]), values.dtype)
    scaled_grad = np.empty(value.shape[1], values.dtype)
    buffer = torch.from_numpy(np.empty_like(gate))
    for first, last, begin, end in _chunks(pointers):
        grad_l = grad_edge[begin:end] if per_edge and weight is None else buffer[: end - begin]
        kernels.gated_mean_backward(
            pointers[first : last + 1],
            columns[begin:end],
            all_logits[begin:end],
            values,
            means[first:last],
            inverses[first:last],
            grad_means[first:last],
            None if grad_logits_array is None else grad_logits_array[begin:end],
            gate[: end - begin],
            scaled_grad,
            grad_l.numpy(),
            grad_targets[first:last],
            grad_sources,
            grad_values,
        )
        if per_edge and edge is not None and weight is not None:
            matmul_into(grad_l, weight, grad_edge[begin:end], transposed=False)
            add_transposed_matmul(grad_l, edge[begin:end], grad_weight)
    if edge is not None and not per_edge:
        grad_edge = grad_target.sum(dim=0, keepdim=True)
        if weight is not None:
            grad_weight, grad_edge = torch.outer(grad_edge[0], edge[0]), grad_edge @ weight
    return grad_source, grad_target, grad_edge, grad_value, grad_weight


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


def _max_chunk(rowptr: Any) -> int:
    """Return the largest number of entries of a chunk."""
    return max(CHUNK, int(np.diff(rowptr).max(initial=0)))


def _chunks(rowptr: Any) -> Iterator[tuple[int, int, int, int]]:
    """Split the rows into chunks of at most `CHUNK` entries or a single row: (first row, end, first entry, end)."""
    first, rows = 0, len(rowptr) - 1
    while first < rows:
        last = max(first + 1, int(np.searchsorted(rowptr, rowptr[first] + CHUNK, side="right")) - 1)
        yield first, last, int(rowptr[first]), int(rowptr[last])
        first = last


_call = register_op(_gated_mean, _fake, _setup, _backward)
_call_backward = register_op(_gated_mean_backward, _fake_backward)
