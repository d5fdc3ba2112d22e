"""How a kernel becomes an operator of torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

LARGE = 1 << 20  # numbers in a tensor


def operator(
    forward: Callable[..., Any],
    fake: Callable[..., Any],
    setup: Callable[..., None] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Register `forward` as the operator `graphtrial::<its name>` and return a function that calls it.

    `fake` returns empty tensors of the right shapes, for `torch.compile`; `setup` and `backward` are those of
    `torch.library.register_autograd`, an operator without them has no gradient. In eager mode the dispatcher, which
    costs as much as a kernel on a small graph, is passed by: the same functions run as an `autograd.Function`.
    """
    name = forward.__name__.strip("_")
    registered = torch.library.custom_op(f"graphtrial::{name}", forward, mutates_args=())
    registered.register_fake(fake)
    eager = forward
    if backward is not None:
        registered.register_autograd(backward, setup_context=setup)
        eager = _function(name, forward, setup, backward)

    def call(*arguments: Any) -> Any:
        traced = torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0
        return registered(*arguments) if traced else eager(*arguments)

    return call


def _function(
    name: str, forward: Callable[..., Any], setup: Callable[..., None] | None, backward: Callable[..., Any]
) -> Callable[..., Any]:
    # Not with a `setup_context` of its own: torch then inspects the signature at every call, which takes longer than a
    # kernel on a small graph.
    def both(ctx: Any, *inputs: Any) -> Any:
        output = forward(*inputs)
        if setup is not None:
            setup(ctx, inputs, output)
        return output

    members = {"forward": staticmethod(both), "backward": staticmethod(backward)}
    return type(name, (torch.autograd.Function,), members).apply  # type: ignore[attr-defined]


def empty(like: Tensor, *shape: int) -> Tensor:
    """Return a tensor of the type of `like` whose memory a later one of about the same size can take over.

    torch asks for aligned blocks, whose trimmings soon hold something small, so that the next block of that size no
    longer fits where the last one was and the process grows. Sizes are rounded up by at most an eighth, because batches
    differ; what is never touched takes no memory.
    """
    count = math.prod(shape)
    if count < LARGE:
        return like.new_empty(shape)
    step = 1 << (count.bit_length() - 4)
    room = np.empty(-(-count // step) * step, np.float32 if like.dtype == torch.float32 else np.float64)
    return torch.from_numpy(room[:count].reshape(shape))


def array(tensor: Tensor) -> Any:
    """Return a tensor's memory as a NumPy array, in order."""
    if tensor.requires_grad:  # asked, because a step makes hundreds of these calls and most need neither
        tensor = tensor.detach()
    return tensor.numpy() if tensor.is_contiguous() else tensor.contiguous().numpy()
