"""ReLU of a modulated signed square root: the update of pair states of GRIT."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.portable import full_precision, uses_kernels


class SignedSqrt(torch.autograd.Function):
    """sign(x) sqrt(|x|), with gradient 0 at 0, where the quotient of the released code is NaN."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        out = x.abs().sqrt_().copysign_(x)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        out: Tensor = ctx.saved_tensors[0]
        slope = out.abs().reciprocal_().mul_(0.5)
        return slope.masked_fill_(out == 0, 0.0).mul_(grad_output)


@full_precision
def modulated_relu(x: Tensor, modulation: Tensor) -> Tensor:
    r"""Return :math:`\mathrm{ReLU}(\rho(x \odot w) + b)` with :math:`\rho(s) = \mathrm{sign}(s) \sqrt{|s|}`.

    x: [rows, width], modulation: [rows, 2 * width], the columns of w and those of b -> [rows, width]. One pass over the
    rows forward and one backward, where each function of torch is a pass of its own: with the weighted sum of its
    result, a training step of GRIT on ZINC takes 375 instead of 450 ms.
    """
    if not uses_kernels(x) or x.dtype != modulation.dtype:
        return modulated_relu_reference(x, modulation)
    return _call(x, modulation)


def modulated_relu_reference(x: Tensor, modulation: Tensor) -> Tensor:
    """Portable path, elementwise in plain torch."""
    weight, bias = modulation.chunk(2, dim=1)
    root: Tensor = SignedSqrt.apply(x * weight)  # type: ignore[no-untyped-call]
    return (root + bias).relu()


def _modulated_relu(x: Tensor, modulation: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(x, *x.shape)
    run(kernels.modulated_relu, 4 * x.numel(), array(x), array(modulation), out.numpy())
    return out


def _fake(x: Tensor, modulation: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs, output)


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor]:
    return _call_backward(grad_output, *ctx.saved_tensors)


def _modulated_relu_backward(grad_output: Tensor, x: Tensor, modulation: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    grad_x, grad_modulation = empty(x, *x.shape), empty(modulation, *modulation.shape)
    rows = array(grad_output), array(x), array(modulation), array(out)
    into = grad_x.numpy(), grad_modulation.numpy()
    run(kernels.modulated_relu_backward, 7 * x.numel(), *rows, *into)
    return grad_x, grad_modulation


def _fake_backward(grad_output: Tensor, x: Tensor, modulation: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), modulation.new_empty(modulation.shape)


_call = register_op(_modulated_relu, _fake, _setup, _backward)
_call_backward = register_op(_modulated_relu_backward, _fake_backward)
