"""Vectors scaled to length 1."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from graphtrial.ops.operator import array, empty, operator

LEAST = 1e-12
"""Shorter vectors are divided by this instead of by their length."""


def unit_rows(x: Tensor) -> Tensor:
    """Return each row divided by its length. x: [rows, width] -> [rows, width]."""
    return _call(x)[0] if x.device.type == "cpu" else unit_rows_reference(x)


def unit_rows_reference(x: Tensor) -> Tensor:
    """The same in plain torch, on any device."""
    return F.normalize(x, eps=LEAST)


def _unit_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, scale = empty(x, *x.shape), x.new_empty(x.shape[0])
    kernels.unit_rows(array(x), LEAST, out.numpy(), scale.numpy())
    return out, scale


def _fake(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty(x.shape[0])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*output)


def _backward(ctx: Any, gradient: Tensor, _: Any) -> Tensor:
    return _call_backward(gradient, *ctx.saved_tensors)


def _unit_rows_backward(gradient: Tensor, unit: Tensor, scale: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(gradient, *gradient.shape)
    kernels.unit_rows_backward(array(gradient), array(unit), array(scale), LEAST, out.numpy())
    return out


def _fake_backward(gradient: Tensor, unit: Tensor, scale: Tensor) -> Tensor:
    return gradient.new_empty(gradient.shape)


_call = operator(_unit_rows, _fake, _setup, _backward)
_call_backward = operator(_unit_rows_backward, _fake_backward)
