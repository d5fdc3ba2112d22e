"""Pooling of node pairs, as in `kernels.pairs.product`: maxima per graph, column sums per node."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block


@compiled
def pair_maxima(claim: Array, ptr: Array, size: Array, x: Array, out: Array, argmax: Array) -> None:
    """Compute the maxima over the diagonal and over all other pairs of each graph, and the rows that have them.

    x: [pairs, channels or more], out: [graphs, 2, channels], 0 where there is no pair; argmax: likewise, -1 there.
    NaN is the maximum of a channel that has one, as in torch.
    """
    channels = out.shape[2]
    graph = next_block(claim)
    while graph < len(size):
        n = size[graph]
        out[graph] = -np.inf
        argmax[graph] = -1
        for i in range(n):
            for j in range(n):
                row, part = ptr[graph] + i * n + j, 0 if i == j else 1
                best, place = out[graph, part], argmax[graph, part]
                for c in range(channels):
                    value = x[row, c]
                    higher = (value > best[c]) | (value != value) | (place[c] < 0)
                    best[c] = value if higher else best[c]
                    place[c] = row if higher else place[c]
        for part in range(2):
            for c in range(channels):
                if argmax[graph, part, c] < 0:
                    out[graph, part, c] = 0
        graph = next_block(claim)


@compiled
def pair_maxima_backward(claim: Array, ptr: Array, size: Array, argmax: Array, grad: Array, out: Array) -> None:
    """Scatter the gradient of `pair_maxima` [graphs, 2, channels] to the pairs; `out` [pairs, channels or more]."""
    graph = next_block(claim)
    while graph < len(size):
        out[ptr[graph] : ptr[graph] + size[graph] ** 2] = 0
        for part in range(2):
            for c in range(grad.shape[2]):
                row = argmax[graph, part, c]
                if row >= 0:
                    out[row, c] += grad[graph, part, c]
        graph = next_block(claim)


@compiled
def column_sums(claim: Array, ptr: Array, size: Array, node: Array, x: Array, out: Array) -> None:
    """out[node[g] + j] = sum over i of the pairs (i, j) of graph g; out: [nodes, channels]."""
    graph = next_block(claim)
    while graph < len(size):
        n = size[graph]
        out[node[graph] : node[graph] + n] = 0
        for i in range(n):
            for j in range(n):
                for c in range(out.shape[1]):
                    out[node[graph] + j, c] += x[ptr[graph] + i * n + j, c]
        graph = next_block(claim)


@compiled
def column_sums_backward(claim: Array, ptr: Array, size: Array, node: Array, grad: Array, out: Array) -> None:
    """Copy the gradient of `column_sums` [nodes, channels] to the pairs; `out` [pairs, channels or more]."""
    graph = next_block(claim)
    while graph < len(size):
        n = size[graph]
        out[ptr[graph] : ptr[graph] + n * n] = 0
        for i in range(n):
            for j in range(n):
                for c in range(grad.shape[1]):
                    out[ptr[graph] + i * n + j, c] = grad[node[graph] + j, c]
        graph = next_block(claim)
