"""Pooling of node pairs to graphs and to nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run_blocks
from graphtrial.graphs.pairs.buckets import Bucket
from graphtrial.nn.dense.pair_input import Entries

CHANNELS = 8
"""Channels that a thread takes at a time."""


def graph_sum(h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return the sum over all pairs of each graph: [channels, graphs, size, size], padding 0 -> [graphs, channels]."""
    return (h.node_sums(h.target, h.values).sum(2) if isinstance(h, Entries) else h.sum((2, 3))).t()


def node_sum(h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return the column sums: for each node j the sum of h_ij over i.

    [channels, graphs, size, size], with any padding -> [nodes, channels].
    """
    if isinstance(h, Entries):
        return bucket.node_rows(h.node_sums(h.target, h.values))
    if bucket.present is not None:
        h = h * bucket.present.to(h.dtype).unsqueeze(2)
    return bucket.node_rows(h.sum(2))


def diagonal_and_rest_maximum(state: Tensor, channels: int, bucket: Bucket) -> Tensor:
    """Return the maximum over the diagonal, then that over all other pairs; 0 where a graph has none.

    state: [rows, pairs], of which the first `channels` rows count -> [graphs, 2 * channels].
    """
    out: Tensor = _Maxima.apply(state, channels, bucket)
    return out


class _Maxima(torch.autograd.Function):
    """Max pooling that saves the argmax instead of the state, and does not copy its gradient."""

    @staticmethod
    def forward(ctx: Any, state: Tensor, channels: int, bucket: Bucket) -> Tensor:
        size = bucket.size
        h = state[:channels].view(channels, bucket.graphs, size, size)
        diagonal = h.diagonal(dim1=2, dim2=3)
        if bucket.present is not None:
            diagonal = torch.where(bucket.present, diagonal, -torch.inf)
        highest, node = diagonal.max(2)
        mask = bucket.off_diagonal_mask(h.dtype)

        def maxima(first: int) -> tuple[Tensor, Tensor]:
            values, places = (h[first : first + CHANNELS] + mask).flatten(2).max(2)
            return values, places

        parts = run_blocks(maxima, range(0, channels, CHANNELS), 3 * h.numel())
        rest, pair = (torch.cat(column) for column in zip(*parts, strict=True))
        out = torch.cat([highest, rest])
        exists = out != -torch.inf
        ctx.shape, ctx.channels, ctx.graphs = state.shape, channels, bucket.graphs
        ctx.save_for_backward(torch.cat([node * (size + 1), pair]), exists)
        return torch.where(exists, out, 0.0).t()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        argmax, exists = ctx.saved_tensors
        grad = torch.where(exists, grad_output.t(), 0.0).view(2, ctx.channels, ctx.graphs)
        out = grad_output.new_zeros(ctx.shape)
        grad_h = out[: ctx.channels].view(ctx.channels, ctx.graphs, -1)
        for part, index in zip(grad, argmax.view_as(grad), strict=True):
            grad_h.scatter_add_(2, index.unsqueeze(2), part.unsqueeze(2))
        return out, None, None
