"""Matrix products of the channels of node pairs, per graph.

A state is a matrix [pairs, channels]: row ptr[g] + i * n + j is the pair (i, j) of graph g of n nodes. Eight channels
of a graph at a time are copied together, multiplied and copied back. Channels are a multiple of eight.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.pairs.tile import (
    TILE_COLUMNS,
    TILE_ROWS,
    copy_lanes,
    copy_positive,
    pair_element,
    pair_tile,
)
from graphtrial.ops.kernels.vector import LANES


@compiled
def pair_product(claim: Array, ptr: Array, size: Array, factors: Array, row: Array, out: Array) -> None:
    """out[i, j] = sum over k of factors[0][i, k] * factors[1][k, j], per graph and channel.

    factors: [2, rows, channels], where pair p is the row row[p], or the row p if `row` is None; out: [pairs, channels].
    """
    groups = out.shape[1] // LANES
    area = LANES * np.max(size) ** 2
    a, b, c = np.empty(area, out.dtype), np.empty(area, out.dtype), np.empty(area, out.dtype)
    flat = out.reshape(-1)
    block = next_block(claim)
    while block < len(size) * groups:
        graph, column = block // groups, block % groups * LANES
        n = size[graph]
        _pack(factors[0], row, ptr[graph], n * n, column, a)
        _pack(factors[1], row, ptr[graph], n * n, column, b)
        _multiply(n, a, n, 1, b, 1, n, c)
        for p in range(n * n):
            copy_lanes(flat, (ptr[graph] + p) * out.shape[1] + column, c, p * LANES)
        block = next_block(claim)


@compiled
def pair_product_backward(
    claim: Array, ptr: Array, size: Array, factors: Array, row: Array, grad: Array, out: Array, rest: Array
) -> None:
    """Compute the gradient of both factors before their ReLU; grad: [pairs, channels], out: as `factors`.

    With `row`, its last row belongs to many pairs: its gradients are summed per graph, to `rest` [graphs, 2, channels],
    and all other rows belong to one pair each. Without, `rest` is not written.
    """
    groups = grad.shape[1] // LANES
    area = LANES * np.max(size) ** 2
    a, b, g, c = (
        np.empty(area, grad.dtype),
        np.empty(area, grad.dtype),
        np.empty(area, grad.dtype),
        np.empty(area, grad.dtype),
    )
    block = next_block(claim)
    while block < len(size) * groups:
        graph, column = block // groups, block % groups * LANES
        n, begin = size[graph], ptr[graph]
        _pack(factors[0], row, begin, n * n, column, a)
        _pack(factors[1], row, begin, n * n, column, b)
        _pack(grad, None, begin, n * n, column, g)
        _multiply(n, g, n, 1, b, n, 1, c)
        _unpack(c, a, row, begin, n * n, column, out[0], rest[graph, 0])
        _multiply(n, a, 1, n, g, 1, n, c)
        _unpack(c, b, row, begin, n * n, column, out[1], rest[graph, 1])
        block = next_block(claim)


@compiled
def _pack(values: Array, row: Array, begin: int, count: int, column: int, packed: Array) -> None:
    """Copy eight channels of the pairs of a graph together."""
    flat, width = values.reshape(-1), values.shape[1]
    for p in range(count):
        at = begin + p if row is None else row[begin + p]
        copy_lanes(packed, p * LANES, flat, at * width + column)


@compiled
def _unpack(
    c: Array, activation: Array, row: Array, begin: int, count: int, column: int, out: Array, rest: Array
) -> None:
    """Copy gradients back, 0 where the activation is 0."""
    flat, width = out.reshape(-1), out.shape[1]
    if row is None:
        for p in range(count):
            copy_positive(flat, (begin + p) * width + column, c, p * LANES, activation, p * LANES, False)
        return
    rest[column : column + LANES] = 0
    for p in range(count):
        at = row[begin + p]
        if at == len(out) - 1:
            copy_positive(rest, column, c, p * LANES, activation, p * LANES, True)
        else:
            copy_positive(flat, at * width + column, c, p * LANES, activation, p * LANES, False)


@compiled
def _multiply(
    n: int, left: Array, left_row: int, left_inner: int, right: Array, right_column: int, right_inner: int, out: Array
) -> None:
    """Multiply eight n x n matrices, one per lane; the last tile overlaps the one before."""
    if n < max(TILE_ROWS, TILE_COLUMNS):
        for i in range(n):
            for j in range(n):
                pair_element(
                    left, i * left_row, left_row, left_inner, right, j * right_column, right_column, right_inner, n,
                    out, i * n + j, n,
                )  # fmt: skip
        return
    for row in range(0, n, TILE_ROWS):
        i = min(row, n - TILE_ROWS)
        for column in range(0, n, TILE_COLUMNS):
            j = min(column, n - TILE_COLUMNS)
            pair_tile(
                left, i * left_row, left_row, left_inner, right, j * right_column, right_column, right_inner, n,
                out, i * n + j, n,
            )  # fmt: skip
