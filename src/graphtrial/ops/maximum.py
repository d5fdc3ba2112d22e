"""The maximum over the entries of each row of a sparse matrix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.ops.csr import CSR
from graphtrial.ops.operator import array, operator


def maximum(matrix: CSR, x: Tensor) -> Tensor:
    """Return, for each row, the elementwise maximum of x [columns, width] over its entries; 0 for an empty row.

    Of equal values the first gets the gradient.
    """
    if x.device.type != "cpu":
        return maximum_reference(matrix, x)
    return _call(x, matrix.ptr, matrix.index)[0]


def maximum_reference(matrix: CSR, x: Tensor) -> Tensor:
    """The same in plain torch, on any device; of equal values each gets an equal share of the gradient."""
    rows = matrix.ptr.diff()
    target = torch.repeat_interleave(torch.arange(len(rows), device=x.device), rows)
    messages = x.index_select(0, matrix.index)
    out = x.new_zeros(len(rows), x.shape[1])
    return out.scatter_reduce(0, target.unsqueeze(1).expand_as(messages), messages, "amax", include_self=False)


def _maximum(x: Tensor, ptr: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out = x.new_empty(len(ptr) - 1, x.shape[1])
    winner = torch.empty(out.shape, dtype=torch.int64)
    kernels.maximum(array(ptr), array(index), array(x), out.numpy(), winner.numpy())
    return out, winner


def _fake(x: Tensor, ptr: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    out = x.new_empty(ptr.shape[0] - 1, x.shape[1])
    return out, torch.empty_like(out, dtype=torch.int64)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.columns = inputs[0].shape[0]
    ctx.save_for_backward(output[1])


def _backward(ctx: Any, gradient: Tensor, _: Any) -> tuple[Any, ...]:
    return _call_backward(gradient, ctx.saved_tensors[0], ctx.columns), None, None


def _maximum_backward(gradient: Tensor, winner: Tensor, columns: int) -> Tensor:
    from graphtrial.ops import kernels

    out = gradient.new_zeros(columns, gradient.shape[1])
    kernels.maximum_backward(array(gradient), array(winner), out.numpy())
    return out


def _fake_backward(gradient: Tensor, winner: Tensor, columns: int) -> Tensor:
    return gradient.new_empty(columns, gradient.shape[1])


_call = operator(_maximum, _fake, _setup, _backward)
_call_backward = operator(_maximum_backward, _fake_backward)
