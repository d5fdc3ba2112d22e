"""Operations on pairs with gradients of their own, which keep less and touch memory less often than torch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.nn.dense.buckets import Bucket


def multiply(paths: Tensor, channels: int, bucket: Bucket) -> Tensor:
    """Return the product of the two paths as matrices, channel by channel and graph by graph.

    paths: [2, rows, pairs], of which the first `channels` rows count -> [rows, pairs], 0 in all other rows.
    """
    return _Multiply.apply(paths, channels, bucket)


def spread(columns: Tensor, at: Tensor, pairs: int) -> Tensor:
    """Give every pair its column: those at `at` their own, in order, all others the last one.

    columns: [..., entries + 1] -> [..., pairs].
    """
    return _Spread.apply(columns, at, pairs)


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, paths: Tensor, channels: int, bucket: Bucket) -> Tensor:
        ctx.channels, ctx.bucket = channels, bucket
        ctx.save_for_backward(paths)
        left, right = _matrices(paths, channels, bucket)
        out = torch.empty_like(paths[0])
        out[channels:] = 0
        torch.bmm(_without_padding(left, bucket), right, out=out[:channels].view_as(left))
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (paths,) = ctx.saved_tensors
        channels, bucket = ctx.channels, ctx.bucket
        left, right = _matrices(paths, channels, bucket)
        gradient = gradient[:channels].contiguous().view_as(left)
        out = torch.empty_like(paths)
        out[:, channels:] = 0
        of_left, of_right = _matrices(out, channels, bucket)
        torch.bmm(gradient, right.transpose(1, 2), out=of_left)
        if bucket.present is not None:
            of_left.copy_(_without_padding(of_left, bucket))
        torch.bmm(_without_padding(left, bucket).transpose(1, 2), gradient, out=of_right)
        return out, None, None


def _matrices(paths: Tensor, channels: int, bucket: Bucket) -> tuple[Tensor, Tensor]:
    """Return the channels of both paths as matrices, [channels * graphs, size, size]."""
    left, right = (path[:channels].view(-1, bucket.size, bucket.size) for path in paths)
    return left, right


def _without_padding(matrices: Tensor, bucket: Bucket) -> Tensor:
    """Return matrices whose columns of absent nodes are 0: these are no steps of a path."""
    if bucket.present is None:
        return matrices
    apart = matrices.view(-1, bucket.graphs, bucket.size, bucket.size)
    return (apart * bucket.present.to(matrices.dtype).unsqueeze(1)).view_as(matrices)


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, columns: Tensor, at: Tensor, pairs: int) -> Tensor:
        ctx.save_for_backward(at)
        last = columns[..., -1:]
        out = last.expand(*columns.shape[:-1], pairs).clone(memory_format=torch.contiguous_format)
        return out.index_add_(-1, at, columns[..., :-1] - last)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (at,) = ctx.saved_tensors
        own = gradient.index_select(-1, at)
        rest = gradient.sum(-1, keepdim=True) - own.sum(-1, keepdim=True)
        return torch.cat([own, rest], dim=-1), None, None
