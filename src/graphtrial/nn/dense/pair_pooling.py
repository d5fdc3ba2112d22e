"""Pooling of pairs without padding to graphs and nodes, by compiled kernels; `dense.readout` pools padded buckets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs.pairs.ragged import Ragged
from graphtrial.ops.custom_op import array, empty


def row_maxima(x: Tensor, channels: int, bucket: Ragged) -> Tensor:
    """Return the maximum over the diagonal, then that over all other pairs; 0 where a graph has none.

    x: [pairs, channels or more] -> [graphs, 2 * channels].
    """
    out: Tensor = _Maxima.apply(x, channels, bucket)
    return out


def row_node_sum(x: Tensor, channels: int, bucket: Ragged) -> Tensor:
    """Return for each node j the sum of h_ij over i, [pairs, channels or more] -> [nodes, channels]."""
    out: Tensor = _NodeSum.apply(x, channels, bucket)
    return out


class _Maxima(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, channels: int, bucket: Ragged) -> Tensor:
        from graphtrial.ops.kernels import pairs

        out = x.new_empty(bucket.graphs, 2, channels)
        argmax = torch.empty(out.shape, dtype=torch.int64)
        place = bucket.ptr, bucket.size_array
        run(pairs.pair_maxima, x.numel(), *place, array(x), out.numpy(), argmax.numpy())
        ctx.bucket, ctx.shape = bucket, x.shape
        ctx.save_for_backward(argmax)
        return out.flatten(1)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        from graphtrial.ops.kernels import pairs

        (argmax,) = ctx.saved_tensors
        out = empty(grad_output, *ctx.shape)
        grad = array(grad_output.reshape(argmax.shape))
        place = ctx.bucket.ptr, ctx.bucket.size_array
        run(pairs.pair_maxima_backward, out.numel(), *place, argmax.numpy(), grad, out.numpy())
        return out, None, None


class _NodeSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, channels: int, bucket: Ragged) -> Tensor:
        from graphtrial.ops.kernels import pairs

        out = x.new_empty(int(bucket.node_ptr[-1]), channels)
        place = bucket.ptr, bucket.size_array, bucket.node_ptr
        run(pairs.column_sums, x.numel(), *place, array(x), out.numpy())
        ctx.bucket, ctx.shape = bucket, x.shape
        return out

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        from graphtrial.ops.kernels import pairs

        out = empty(grad_output, *ctx.shape)
        place = ctx.bucket.ptr, ctx.bucket.size_array, ctx.bucket.node_ptr
        run(pairs.column_sums_backward, out.numel(), *place, array(grad_output), out.numpy())
        return out, None, None
