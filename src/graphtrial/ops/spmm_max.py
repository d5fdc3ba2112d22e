"""SpMM with max-reduction: elementwise maximum over the entries of each row of a sparse matrix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.ops.custom_op import array, register_op
from graphtrial.ops.portable import first_of_max, gather, segment_max, segment_sum, uses_kernels
from graphtrial.ops.sparse_matrix import SparseMatrix


def spmm_max(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the elementwise maximum of `x` over the entries of each row; 0 for an empty row.

    x: [columns, width] -> [rows, width]. The gradient goes to the first of equal maxima.
    """
    if not uses_kernels(x):
        return spmm_max_reference(matrix, x)
    return _call(x, matrix.rowptr, matrix.col)[0]


def spmm_max_reference(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Portable path: the maximum as a sum over the entries, all of which but the first maximum are masked out."""
    messages = gather(matrix, x)
    first = first_of_max(matrix, messages.detach(), segment_max(matrix, messages))
    return segment_sum(matrix, torch.where(first, messages, 0.0))


def _spmm_max(x: Tensor, rowptr: Tensor, col: Tensor) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out = x.new_empty(len(rowptr) - 1, x.shape[1])
    argmax = torch.empty(out.shape, dtype=torch.int64)
    work = len(col) * x.shape[1]
    run(kernels.spmm_max, work, array(rowptr), array(col), array(x), out.numpy(), argmax.numpy())
    return out, argmax


def _fake(x: Tensor, rowptr: Tensor, col: Tensor) -> tuple[Tensor, Tensor]:
    out = x.new_empty(rowptr.shape[0] - 1, x.shape[1])
    return out, torch.empty_like(out, dtype=torch.int64)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.columns = inputs[0].shape[0]
    ctx.save_for_backward(output[1])


def _backward(ctx: Any, grad_output: Tensor, _: Any) -> tuple[Any, ...]:
    return _call_backward(grad_output, ctx.saved_tensors[0], ctx.columns), None, None


def _spmm_max_backward(grad_output: Tensor, argmax: Tensor, columns: int) -> Tensor:
    from graphtrial.ops import kernels

    out = grad_output.new_zeros(columns, grad_output.shape[1])
    run(kernels.spmm_max_backward, 3 * grad_output.numel(), array(grad_output), array(argmax), out.numpy())
    return out


def _fake_backward(grad_output: Tensor, argmax: Tensor, columns: int) -> Tensor:
    return grad_output.new_empty(columns, grad_output.shape[1])


_call = register_op(_spmm_max, _fake, _setup, _backward)
_call_backward = register_op(_spmm_max_backward, _fake_backward)
