"""The linear map of a tall matrix."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.ops.operator import array, empty, operator

LEAST = 12
"""Rows, and numbers in a row before and after, below which the kernels have no tile."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x @ weight.T + bias. x: [rows, inputs], weight: [outputs, inputs], bias: [outputs] -> [rows, outputs].

    With one thread, on processors with vectors of 256 bits, our own products are 1.2 to 1.6 times as fast as those of
    the library that torch calls, for which widths of some hundred numbers are small; elsewhere torch's are taken.
    """
    if x.dim() == 2 and products_apply(x, weight):
        return _call(x, weight, bias)
    return F.linear(x, weight, bias)


def products_apply(x: Tensor, weight: Tensor) -> bool:
    """Tell whether the kernels are the better choice for products of x [rows, inputs] and weight, and for gradients."""
    fits = min(x.shape[0], *weight.shape) >= LEAST and x.dtype == weight.dtype
    return fits and x.device.type == "cpu" and torch.get_num_threads() == 1 and _short_vectors()


def multiply_into(x: Tensor, weight: Tensor, out: Tensor, *, turned: bool) -> None:
    """Set out to x @ weight, or to x @ weight.T if it is `turned`."""
    from graphtrial.ops import kernels

    if products_apply(x, weight):
        kernels.multiply(array(x), array(weight), turned, None, out.numpy())
    else:
        torch.mm(x, weight.t() if turned else weight, out=out)


def add_turned_product(left: Tensor, right: Tensor, out: Tensor) -> None:
    """Add left.T @ right to out."""
    from graphtrial.ops import kernels

    if products_apply(left, out):
        kernels.multiply_turned(array(left), array(right), out.numpy(), None)
    else:
        out.addmm_(left.t(), right)


@cache
def _short_vectors() -> bool:
    return torch.backends.cpu.get_cpu_capability() == "AVX2"


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(x, x.shape[0], weight.shape[0])
    kernels.multiply(array(x), array(weight), True, None if bias is None else array(bias), out.numpy())
    return out


def _fake(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.has_bias = inputs[2] is not None
    ctx.save_for_backward(inputs[0], inputs[1])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    x, weight = ctx.saved_tensors
    of_x = _call_input(gradient, weight) if ctx.needs_input_grad[0] else None
    if not (ctx.needs_input_grad[1] or ctx.needs_input_grad[2]):
        return of_x, None, None
    of_weight, of_bias = _call_weight(gradient, x)
    return of_x, of_weight, of_bias if ctx.has_bias else None


def _linear_input(gradient: Tensor, weight: Tensor) -> Tensor:
    """Return gradient @ weight."""
    from graphtrial.ops import kernels

    out = empty(gradient, gradient.shape[0], weight.shape[1])
    kernels.multiply(array(gradient), array(weight), False, None, out.numpy())
    return out


def _fake_input(gradient: Tensor, weight: Tensor) -> Tensor:
    return gradient.new_empty(gradient.shape[0], weight.shape[1])


def _linear_weight(gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return gradient.T @ x and the column sums of the gradient."""
    from graphtrial.ops import kernels

    out, sums = x.new_zeros(gradient.shape[1], x.shape[1]), x.new_zeros(gradient.shape[1])
    kernels.multiply_turned(array(gradient), array(x), out.numpy(), sums.numpy())
    return out, sums


def _fake_weight(gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(gradient.shape[1], x.shape[1]), x.new_empty(gradient.shape[1])


_call = operator(_linear, _fake, _setup, _backward)
_call_input = operator(_linear_input, _fake_input)
_call_weight = operator(_linear_weight, _fake_weight)
