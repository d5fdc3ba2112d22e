"""Attention with clamped exponentials, as in Exphormer: logits, weights and their sums in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.edge_ops import sddmm
from graphtrial.ops.portable import full_precision, gather, gather_rows, uses_kernels
from graphtrial.ops.sparse_matrix import SparseMatrix
from graphtrial.ops.spmm import spmm
from graphtrial.ops.vector_paths import has_vectors

LANES = 8


@full_precision
def clamped_attention(
    matrix: SparseMatrix, query: Tensor, key: Tensor, value: Tensor, bound: float, edge: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""Attend along the entries of a sparse matrix: return the weighted sums of values, and the sums of weights.

    .. math:: out_i = \sum_j w_{ij} v_j, \qquad norm_i = \sum_j w_{ij}, \qquad
        w_{ij} = \exp(\mathrm{clamp}(\textstyle\sum q_i \odot k_j \odot edge_{ij}, \pm bound))

    query: [rows, heads, size]; key, value: [columns, heads, size]; edge: [entries, heads, size], in the order of the
    CSR entries -> [rows, heads, size], [rows, heads]. Only the logits are saved for the backward pass.
    """
    matrix = matrix.in_row_order()
    heads, size = query.shape[1:]
    if not uses_kernels(query) or not has_vectors() or LANES % heads or heads * size % LANES:
        return clamped_attention_reference(matrix, query, key, value, bound, edge)
    perm = torch.arange(len(matrix.col)) if matrix.csc_perm is None else matrix.csc_perm
    pointers = matrix.rowptr, matrix.col, matrix.colptr, matrix.row, perm
    out, norm, *_ = _call(query, key, value, edge, bound, *pointers)
    return out, norm


def clamped_attention_reference(
    matrix: SparseMatrix, query: Tensor, key: Tensor, value: Tensor, bound: float, edge: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Portable path, and that of other numbers of heads: SDDMM, exponentials, SpMM; values in the order of rows."""
    if edge is None:
        logits = sddmm(matrix, query, key)
    else:
        logits = (gather_rows(matrix, query) * gather(matrix, key) * edge).sum(dim=2)
    weight = logits.clamp(-bound, bound).exp()
    sums = spmm(matrix, torch.cat([value, value.new_ones(*value.shape[:2], 1)], dim=2), weight)
    return sums[..., :-1], sums[..., -1]


def _clamped_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    edge: Tensor | None,
    bound: float,
    rowptr: Tensor,
    col: Tensor,
    colptr: Tensor,
    row: Tensor,
    perm: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    heads = query.shape[1]
    inputs = [_in_lanes(x) for x in (query, key, value, edge)]
    logits, norm = empty(query, len(col), LANES), query.new_empty(len(query), LANES)
    sums = np.empty_like(inputs[0])
    matrix, outputs = (array(rowptr), array(col)), (logits.numpy(), sums, norm.numpy())
    run(kernels.clamped_attention, _work(col, sums.shape[1]), heads, bound, *matrix, *inputs, *outputs)
    return _separated(sums, query), norm[:, :heads].clone(), logits


def _in_lanes(x: Tensor | None) -> Any:
    """Return x [rows, heads, size] as an array [rows, size * heads]."""
    from graphtrial.ops import kernels

    if x is None:
        return None
    lanes = empty(x, x.shape[0], x.shape[1] * x.shape[2]).numpy()
    run(kernels.interleave_heads, 2 * x.numel(), array(x), lanes)
    return lanes


def _separated(lanes: Any, like: Tensor) -> Tensor:
    """Undo `_in_lanes`, for a tensor of the shape of `like`."""
    from graphtrial.ops import kernels

    out = empty(like, *like.shape)
    run(kernels.separate_heads, 2 * out.numel(), lanes, out.numpy())
    return out


def _work(col: Tensor, width: int) -> int:
    return 2 * len(col) * (width + LANES)


def _fake(
    query: Tensor, key: Tensor, value: Tensor, edge: Tensor | None, bound: float, rowptr: Tensor, col: Tensor, *_: Any
) -> tuple[Tensor, Tensor, Tensor]:
    out, norm = query.new_empty(query.shape), query.new_empty(query.shape[:2])
    return out, norm, query.new_empty(col.shape[0], LANES)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    *tensors, ctx.bound = inputs[:5]
    ctx.set_materialize_grads(False)  # of the logits, which have none
    ctx.mark_non_differentiable(output[2])
    ctx.save_for_backward(output[2], *tensors, *inputs[5:])


def _backward(ctx: Any, grad_output: Tensor | None, grad_norm: Tensor | None, _: Any) -> tuple[Any, ...]:
    logits, query, key, value, edge, *pointers = ctx.saved_tensors
    grad_output = torch.zeros_like(query) if grad_output is None else grad_output
    grad_norm = query.new_zeros(query.shape[:2]) if grad_norm is None else grad_norm
    grads = _call_backward(grad_output, grad_norm, logits, query, key, value, edge, ctx.bound, *pointers)
    return *grads[:3], None if edge is None else grads[3], *[None] * 6


def _clamped_attention_backward(
    grad_output: Tensor,
    grad_norm: Tensor,
    logits: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    edge: Tensor | None,
    bound: float,
    rowptr: Tensor,
    col: Tensor,
    colptr: Tensor,
    row: Tensor,
    perm: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    heads = query.shape[1]
    inputs, grad = [_in_lanes(x) for x in (query, key, value, edge)], _in_lanes(grad_output)
    grad_query, grad_key, grad_value, grad_edge = (None if x is None else np.empty_like(x) for x in inputs)
    norm, pairs = array(grad_norm.repeat(1, LANES // heads)), empty(query, 2 * len(col), LANES).numpy()
    matrix, work = (array(rowptr), array(col)), _work(col, grad.shape[1])
    outputs = grad_query, grad_edge, pairs
    run(kernels.clamped_attention_query, work, heads, bound, *matrix, *inputs, array(logits), grad, norm, *outputs)
    transpose = array(colptr), array(row), array(perm)
    run(kernels.clamped_attention_key, work, *transpose, inputs[0], inputs[3], grad, pairs, grad_key, grad_value)
    of_edge = query.new_empty(0) if edge is None else _separated(grad_edge, edge)
    return _separated(grad_query, query), _separated(grad_key, key), _separated(grad_value, value), of_edge


def _fake_backward(
    grad_output: Tensor,
    grad_norm: Tensor,
    logits: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    edge: Tensor | None,
    *rest: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    of_edge = query.new_empty(0) if edge is None else edge.new_empty(edge.shape)
    return query.new_empty(query.shape), key.new_empty(key.shape), value.new_empty(value.shape), of_edge


_call = register_op(_clamped_attention, _fake, _setup, _backward)
_call_backward = register_op(_clamped_attention_backward, _fake_backward)
