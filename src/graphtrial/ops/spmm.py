"""Weighted sums over the rows of a sparse matrix: one kernel for sums, means, attention and pooling."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.ops.csr import CSR
from graphtrial.ops.operator import array, operator


def weighted_sum(matrix: CSR, x: Tensor, weight: Tensor, own: Tensor | None = None) -> Tensor:
    """Return, for each row, the sum of weight * x over its entries, plus own * x of the row itself.

    x: [columns, width] with weight [entries], or [columns, heads, width] with weight [entries, heads]. Gradients flow
    to all. `own` is a single number, for a square matrix without heads. No tensor of entries x width is made.
    """
    if x.device.type != "cpu":
        return weighted_sum_reference(matrix, x, weight, own)
    return _call(x, weight, own, *matrix.tensors)


def weighted_sum_reference(matrix: CSR, x: Tensor, weight: Tensor, own: Tensor | None = None) -> Tensor:
    """The same in plain torch, on any device."""
    rows = matrix.ptr.diff()
    target = torch.repeat_interleave(torch.arange(len(rows), device=x.device), rows)
    values = weight if matrix.order is None else weight.index_select(0, matrix.order)
    messages = x.index_select(0, matrix.index) * values.unsqueeze(-1)
    start = x.new_zeros(len(rows), *x.shape[1:]) if own is None else own * x
    return start.index_add(0, target, messages)


def _weighted_sum(
    x: Tensor,
    weight: Tensor,
    own: Tensor | None,
    ptr: Tensor,
    index: Tensor,
    order: Tensor | None,
    t_ptr: Tensor,
    t_index: Tensor,
    t_order: Tensor | None,
) -> Tensor:
    from graphtrial.ops import kernels

    out = x.new_empty(len(ptr) - 1, *x.shape[1:])
    matrix = array(ptr), array(index), None if order is None else array(order)
    if x.dim() == 3:
        kernels.weighted_sum_heads(*matrix, array(weight), array(x), out.numpy())
    else:
        share = None if own is None else array(own).reshape(1)
        kernels.weighted_sum(*matrix, array(weight), share, array(x), out.numpy())
    return out


def _fake(x: Tensor, weight: Tensor, own: Tensor | None, ptr: Tensor, *rest: Tensor | None) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, *x.shape[1:])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    x, weight, own, ptr, index, order, t_ptr, t_index, t_order = ctx.saved_tensors
    x_gradient = weight_gradient = own_gradient = None
    if ctx.needs_input_grad[0]:
        x_gradient = _call(gradient, weight, own, t_ptr, t_index, t_order, ptr, index, order)
    if ctx.needs_input_grad[1]:
        dots = _call_dot(gradient, x, ptr, index).reshape(weight.shape)
        weight_gradient = dots if order is None else torch.empty_like(dots).index_copy(0, order, dots)
    if ctx.needs_input_grad[2]:
        own_gradient = torch.dot(gradient.flatten(), x.flatten()).reshape(own.shape)
    return x_gradient, weight_gradient, own_gradient, None, None, None, None, None, None


def _entry_dot(left: Tensor, right: Tensor, ptr: Tensor, index: Tensor) -> Tensor:
    """Return left[row] . right[column] of each entry, head by head: [entries, heads]."""
    from graphtrial.ops import kernels

    heads = left.shape[1] if left.dim() == 3 else 1
    out = left.new_empty(index.shape[0], heads)
    shape = (-1, heads, left.shape[-1])
    kernels.entry_dot(array(ptr), array(index), array(left).reshape(shape), array(right).reshape(shape), out.numpy())
    return out


def _fake_dot(left: Tensor, right: Tensor, ptr: Tensor, index: Tensor) -> Tensor:
    return left.new_empty(index.shape[0], left.shape[1] if left.dim() == 3 else 1)


_call = operator(_weighted_sum, _fake, _setup, _backward)
_call_dot = operator(_entry_dot, _fake_dot)
