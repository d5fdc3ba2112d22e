"""L2 normalisation of rows."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.hardware.threads import run
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.portable import full_precision, uses_kernels
from graphtrial.ops.recording import recordable

EPSILON = 1e-12
"""Lower bound of the norm, as `eps` of `torch.nn.functional.normalize`."""


@recordable
@full_precision
def l2_normalize(x: Tensor) -> Tensor:
    """Divide each row by its L2 norm, as `torch.nn.functional.normalize(x)`. x: [rows, width] -> [rows, width]."""
    return _call(x)[0] if uses_kernels(x) else l2_normalize_reference(x)


def l2_normalize_reference(x: Tensor) -> Tensor:
    """Portable path: torch's own normalisation."""
    return F.normalize(x, eps=EPSILON)


def _l2_normalize(x: Tensor) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, scale = empty(x, *x.shape), x.new_empty(x.shape[0])
    run(kernels.l2_normalize, 2 * x.numel(), array(x), EPSILON, out.numpy(), scale.numpy())
    return out, scale


def _fake(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty(x.shape[0])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*output)


def _backward(ctx: Any, grad_output: Tensor, _: Any) -> Tensor:
    return _call_backward(grad_output, *ctx.saved_tensors)


def _l2_normalize_backward(grad_output: Tensor, unit: Tensor, scale: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(grad_output, *grad_output.shape)
    rows = array(grad_output), array(unit), array(scale)
    run(kernels.l2_normalize_backward, 3 * unit.numel(), *rows, EPSILON, out.numpy())
    return out


def _fake_backward(grad_output: Tensor, unit: Tensor, scale: Tensor) -> Tensor:
    return grad_output.new_empty(grad_output.shape)


_call = register_op(_l2_normalize, _fake, _setup, _backward)
_call_backward = register_op(_l2_normalize_backward, _fake_backward)
