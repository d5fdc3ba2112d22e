"""Linear layer of towers: groups of channels, each with a weight matrix of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.linear import MIN_SIZE, PRODUCTS_PER_ELEMENT, linear, row_sum
from graphtrial.ops.portable import uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.vector_paths import has_vectors


@recordable
def tower_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x[:, t] @ weight[t].T + bias[t] of each tower t, side by side.

    x: [rows, towers * inputs], or [rows, inputs] as the input of every tower; weight: [towers, outputs, inputs]; bias:
    [towers, outputs] -> [rows, towers * outputs]. Towers of at least 12 inputs and outputs have a kernel, forward and
    backward 1.2 to 1.5 times as fast as `torch.einsum` (4 towers of 16 to 144 inputs, `benchmarks.operators`).
    """
    towers, _, inputs = weight.shape
    if towers == 1 or x.shape[1] == inputs:
        return linear(x, weight.flatten(0, 1), None if bias is None else bias.flatten())
    if not _has_kernel(x, weight):
        out = torch.einsum("nti,toi->nto", x.unflatten(1, (towers, inputs)), weight)
        return (out if bias is None else out + bias).flatten(1)
    return _call(x, weight, bias)


def _has_kernel(x: Tensor, weight: Tensor) -> bool:
    fits = min(x.shape[0], weight.shape[1], weight.shape[2]) >= MIN_SIZE and x.dtype == weight.dtype
    return fits and uses_kernels(x) and has_vectors() and not torch.is_autocast_enabled("cpu")


def _work(x: Tensor, weight: Tensor) -> int:
    return x.shape[0] * weight.numel() // PRODUCTS_PER_ELEMENT


def _tower_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(x, x.shape[0], weight.shape[0] * weight.shape[1])
    added = None if bias is None else array(bias).reshape(-1)
    run(kernels.tower_matmul, _work(x, weight), array(x), array(weight), True, added, out.numpy())
    return out


def _fake(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0] * weight.shape[1])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weight, bias = inputs
    ctx.has_bias = bias is not None
    ctx.save_for_backward(x, weight)


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    x, weight = ctx.saved_tensors
    grad_x = _call_input(grad_output, weight) if ctx.needs_input_grad[0] else None
    grad_bias = row_sum(grad_output).view(weight.shape[:2]) if ctx.has_bias else None
    return grad_x, _call_weight(grad_output, x, weight), grad_bias


def _tower_linear_input(grad_output: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of x."""
    from graphtrial.ops import kernels

    out = empty(grad_output, grad_output.shape[0], weight.shape[0] * weight.shape[2])
    work = _work(grad_output, weight)
    run(kernels.tower_matmul, work, array(grad_output), array(weight), False, None, out.numpy())
    return out


def _fake_input(grad_output: Tensor, weight: Tensor) -> Tensor:
    return grad_output.new_empty(grad_output.shape[0], weight.shape[0] * weight.shape[2])


def _tower_linear_weight(grad_output: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of weight."""
    from graphtrial.ops import kernels

    out = torch.empty_like(weight)
    run(kernels.tower_matmul_weight, _work(x, weight), array(grad_output), array(x), out.numpy())
    return out


def _fake_weight(grad_output: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    return torch.empty_like(weight)


_call = register_op(_tower_linear, _fake, _setup, _backward)
_call_input = register_op(_tower_linear_input, _fake_input)
_call_weight = register_op(_tower_linear_weight, _fake_weight)
