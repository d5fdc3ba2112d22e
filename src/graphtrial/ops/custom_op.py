"""Registration of compiled kernels as torch custom operators with autograd."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])
LARGE = 1 << 20  # elements of a tensor


def register_op(
    forward: F,
    fake: Callable[..., Any],
    setup: Callable[..., None] | None = None,
    backward: Callable[..., Any] | None = None,
) -> F:
    """Register `forward` as the custom operator `graphtrial::<its name>` and return a function that calls it.

    `fake` returns empty tensors of the output shapes, for `torch.compile`; `setup` and `backward` are those of
    `torch.library.register_autograd`; without them the operator has no gradient. In eager mode the same functions run
    as an `autograd.Function`, because torch's dispatcher costs as much as a kernel on a small graph.
    """
    name = forward.__name__.strip("_")
    registered = torch.library.custom_op(f"graphtrial::{name}", forward, mutates_args=())
    registered.register_fake(fake)
    eager: Callable[..., Any] = forward
    if backward is not None:
        registered.register_autograd(backward, setup_context=setup)
        eager = _function(name, forward, setup, backward)

    def call(*arguments: Any) -> Any:
        traced = torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0
        return registered(*arguments) if traced else eager(*arguments)

    return cast(F, call)


def _function(
    name: str, forward: Callable[..., Any], setup: Callable[..., None] | None, backward: Callable[..., Any]
) -> Callable[..., Any]:
    # Without a separate `setup_context`: torch would inspect the signature at every call, which takes longer than a
    # kernel on a small graph.
    def forward_and_setup(ctx: Any, *inputs: Any) -> Any:
        output = forward(*inputs)
        if setup is not None:
            setup(ctx, inputs, output)
        return output

    members = {"forward": staticmethod(forward_and_setup), "backward": staticmethod(backward)}
    function = cast(type[torch.autograd.Function], type(name, (torch.autograd.Function,), members))
    return function.apply


def empty(like: Tensor, *shape: int) -> Tensor:
    """Allocate an uninitialised tensor of the dtype of `like`, in a block that a later allocation can reuse.

    torch allocates aligned blocks, whose gaps fill with small tensors, so that the next block of that size no longer
    fits and the process grows. Large sizes are rounded up by at most 1/8, because batches differ; memory pages that are
    never touched are never mapped.
    """
    count = math.prod(shape)
    if count < LARGE:
        return like.new_empty(shape)
    step = 1 << (count.bit_length() - 4)
    block = np.empty(-(-count // step) * step, np.float32 if like.dtype == torch.float32 else np.float64)
    return torch.from_numpy(block[:count].reshape(shape))


def array(tensor: Tensor) -> Any:
    """Return a tensor as a contiguous NumPy array, without a copy where it is contiguous."""
    if tensor.requires_grad:  # detach only where needed: a training step makes hundreds of these calls
        tensor = tensor.detach()
    return tensor.numpy() if tensor.is_contiguous() else tensor.contiguous().numpy()
