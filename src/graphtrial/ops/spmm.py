"""Sparse-dense matrix product (SpMM): one operator for sums, means, attention and pooling."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.portable import gather, segment_sum, uses_kernels
from graphtrial.ops.sparse_matrix import SparseMatrix
from graphtrial.ops.vector_paths import has_vectors


def spmm(matrix: SparseMatrix, x: Tensor, weight: Tensor, self_weight: Tensor | None = None) -> Tensor:
    r"""Return the product of a sparse matrix with values `weight` and the dense matrix `x`.

    .. math:: out_i = self\_weight \, x_i + \sum_{j} weight_{ij} \, x_j

    x: [columns, width] with weight [entries], or [columns, heads, width] with weight [entries, heads] ->
    [rows, (heads,) width]. self_weight: scalar, for a square matrix without heads. All three get gradients. No tensor
    of entries x width is materialised.
    """
    if not uses_kernels(x):
        return spmm_reference(matrix, x, weight, self_weight)
    return _call(x, weight, self_weight, *matrix.tensors)


def spmm_reference(matrix: SparseMatrix, x: Tensor, weight: Tensor, self_weight: Tensor | None = None) -> Tensor:
    """Portable path: gather the rows of each entry, weigh them, and sum the segment of each row."""
    values = weight if matrix.perm is None else weight.index_select(0, matrix.perm)
    out = segment_sum(matrix, gather(matrix, x) * values.unsqueeze(-1))
    return out if self_weight is None else out + self_weight * x


def _spmm(
    x: Tensor,
    weight: Tensor,
    self_weight: Tensor | None,
    rowptr: Tensor,
    col: Tensor,
    perm: Tensor | None,
    colptr: Tensor,
    row: Tensor,
    csc_perm: Tensor | None,
) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(x, len(rowptr) - 1, *x.shape[1:])
    matrix = array(rowptr), array(col), None if perm is None else array(perm)
    work = (len(col) + len(rowptr)) * (out.numel() // max(1, len(out)))
    if x.dim() == 3:
        run(kernels.spmm_heads, work, has_vectors(), *matrix, array(weight), array(x), out.numpy())
    else:
        scale = None if self_weight is None else array(self_weight).reshape(1)
        run(kernels.spmm, work, has_vectors(), *matrix, array(weight), scale, array(x), out.numpy())
    return out


def _fake(x: Tensor, weight: Tensor, self_weight: Tensor | None, rowptr: Tensor, *rest: Tensor | None) -> Tensor:
    return x.new_empty(rowptr.shape[0] - 1, *x.shape[1:])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    x, weight, self_weight, rowptr, col, perm, colptr, row, csc_perm = ctx.saved_tensors
    grad_x = grad_weight = grad_self_weight = None
    if ctx.needs_input_grad[0]:
        grad_x = _call(grad_output, weight, self_weight, colptr, row, csc_perm, rowptr, col, perm)
    if ctx.needs_input_grad[1]:
        dots = _call_sddmm(grad_output, x, rowptr, col).reshape(weight.shape)
        grad_weight = dots if perm is None else torch.empty_like(dots).index_copy(0, perm, dots)
    if ctx.needs_input_grad[2]:
        grad_self_weight = _call_total(grad_output, x).reshape(self_weight.shape)
    return grad_x, grad_weight, grad_self_weight, None, None, None, None, None, None


def _sddmm(left: Tensor, right: Tensor, rowptr: Tensor, col: Tensor) -> Tensor:
    """Return the SDDMM `left[row] . right[column]` of each entry and head, [entries, heads]."""
    from graphtrial.ops import kernels

    heads = left.shape[1] if left.dim() == 3 else 1
    out = left.new_empty(col.shape[0], heads)
    shape = (-1, heads, left.shape[-1])
    operands = array(left).reshape(shape), array(right).reshape(shape)
    run(kernels.sddmm, len(col) * heads * left.shape[-1], array(rowptr), array(col), *operands, out.numpy())
    return out


def _fake_sddmm(left: Tensor, right: Tensor, rowptr: Tensor, col: Tensor) -> Tensor:
    return left.new_empty(col.shape[0], left.shape[1] if left.dim() == 3 else 1)


def _total_product(left: Tensor, right: Tensor) -> Tensor:
    """Return the sum of the elementwise product of two matrices, [1]."""
    from graphtrial.ops import kernels

    out = left.new_empty(1)
    kernels.total_product(array(left), array(right), out.numpy())
    return out


def _fake_total(left: Tensor, right: Tensor) -> Tensor:
    return left.new_empty(1)


_call = register_op(_spmm, _fake, _setup, _backward)
_call_total = register_op(_total_product, _fake_total)
_call_sddmm = register_op(_sddmm, _fake_sddmm)
