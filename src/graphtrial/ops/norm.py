"""Batch norm, activation and residual link in one pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.ops.operator import array, empty, operator

CODES = {"none": 0, "relu": 1, "elu": 2}
"""The activations, as the kernels know them."""


def batch_norm(
    x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor | None, epsilon: float, activation: str
) -> tuple[Tensor, Tensor]:
    """Return the activation of x, normalised by its own columns, + residual; and mean and unbiased variance of columns.

    `activation` is relu, elu or none. x: [rows, width], at least two rows; residual: the same or [1, width]; weight,
    bias: [width] -> [rows, width], [2, width].
    """
    if x.device.type != "cpu":
        return batch_norm_reference(x, weight, bias, residual, epsilon, activation)
    out, _, statistics = _call(x, weight, bias, residual, epsilon, activation)
    return out, statistics


def batch_norm_reference(
    x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor | None, epsilon: float, activation: str
) -> tuple[Tensor, Tensor]:
    """The same in plain torch, on any device."""
    out = F.batch_norm(x, None, None, weight, bias, training=True, eps=epsilon)
    out = F.elu(out) if activation == "elu" else F.relu(out) if activation == "relu" else out
    statistics = torch.stack([x.mean(dim=0), x.var(dim=0)]).detach()
    return out if residual is None else out + residual, statistics


def _batch_norm(
    x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor | None, epsilon: float, activation: str
) -> tuple[Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    _, columns, statistics = _fake(x[:0], weight, bias, residual, epsilon, activation)
    out = empty(x, *x.shape)
    kernels.norm(
        array(x),
        array(weight),
        array(bias),
        epsilon,
        CODES[activation],
        None if residual is None else array(residual),
        columns.numpy(),
        statistics.numpy(),
        out.numpy(),
    )
    return out, columns, statistics


def _fake(
    x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor | None, epsilon: float, activation: str
) -> tuple[Tensor, Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty(4, x.shape[1]), x.new_empty(2, x.shape[1])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    x, _, _, residual, _, activation = inputs
    ctx.activation = activation
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(*output[1:])
    ctx.residual_rows = None if residual is None else residual.shape[0]
    ctx.save_for_backward(x, output[1])


def _backward(ctx: Any, gradient: Tensor | None, *_: Any) -> tuple[Any, ...]:
    if gradient is None:
        return None, None, None, None, None, None
    found = _call_backward(gradient, *ctx.saved_tensors, ctx.activation)
    if ctx.residual_rows is None:
        return (*found, None, None, None)
    shared = ctx.residual_rows == 1 and gradient.shape[0] != 1
    return (*found, gradient.sum(dim=0, keepdim=True) if shared else gradient, None, None)


def _batch_norm_backward(
    gradient: Tensor, x: Tensor, columns: Tensor, activation: str
) -> tuple[Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    _, of_weight, of_bias = _fake_backward(gradient, x[:0], columns, activation)
    out = empty(x, *x.shape)
    kernels.norm_backward(
        array(gradient),
        array(x),
        CODES[activation],
        array(columns),
        out.numpy(),
        of_weight.numpy(),
        of_bias.numpy(),
    )
    return out, of_weight, of_bias


def _fake_backward(gradient: Tensor, x: Tensor, columns: Tensor, activation: str) -> tuple[Tensor, Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty(x.shape[1]), x.new_empty(x.shape[1])


_call = operator(_batch_norm, _fake, _setup, _backward)
_call_backward = operator(_batch_norm_backward, _fake_backward)
