"""Matrix products of a tall and a small matrix, faster than BLAS at the widths of graph networks.

The last tile overlaps the one before instead of reaching beyond the result, which needs at least 12 rows and 8 columns.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.lanes import copy, transpose
from graphtrial.ops.kernels.matmul_tile import Add, Relu
from graphtrial.ops.kernels.strips import NO_MORE, TILE_ROWS, add_strip, added_panel_of, panel_of, strip
from graphtrial.ops.kernels.vector import LANES

DEPTH = 96  # rows of both factors per cache block of a transposed product
ROWS = 240  # rows per cache block; a multiple of the height of every tile


@compiled
def matmul(claim: Array, x: Array, weight: Array, transposed: bool, bias: Array, out: Array) -> None:
    """out = x @ weight (+ bias), or x @ weight.T (+ bias) if `transposed`; x: [rows, inner]; bias may be None."""
    matmul_with_epilogue(claim, x, weight, transposed, bias, out, None)


@compiled
def matmul_with_epilogue(
    claim: Array, x: Array, weight: Array, transposed: bool, bias: Array, out: Array, epilogue: Relu | Add | None
) -> None:
    """As `matmul`, with an epilogue of each tile."""
    rows, inner = x.shape
    first = ROWS * next_block(claim)
    if first >= rows:
        return
    packed = np.empty(inner * (out.shape[1] + 2 * LANES), x.dtype)
    pack(weight, transposed, inner, out.shape[1], packed)
    while first < rows:
        matmul_rows(x, packed, bias, out, first, min(rows, first + ROWS), epilogue)
        first = ROWS * next_block(claim)


@compiled
def pack(weight: Array, transposed: bool, inner: int, columns: int, packed: Array) -> None:
    """Copy the panels of weight, or of weight.T if `transposed`, one after the other."""
    at = column = 0
    while column < columns:
        begin, size = panel_of(column, columns)
        _pack(weight, transposed, begin, size, packed[at : at + inner * size])
        at, column = at + inner * size, begin + size


@compiled
def matmul_rows(
    x: Array, packed: Array, bias: Array, out: Array, first: int, last: int, epilogue: Relu | Add | None
) -> None:
    """Compute the rows `first` to `last` of a product; `last` is the end or a multiple of `ROWS` beyond `first`."""
    rows, inner = x.shape
    columns = out.shape[1]
    flat, into = x.reshape(-1), out.reshape(-1)
    at = column = 0
    while column < columns:
        begin, size = panel_of(column, columns)
        left, right = (flat, 0, inner, 1), (packed, at, size)
        strip((first, last, rows), begin, size, left, right, inner, bias, into, columns, NO_MORE, None, epilogue)
        at, column = at + inner * size, begin + size


@compiled
def matmul_transposed(claim: Array, g: Array, x: Array, out: Array, sums: Array) -> None:
    """out[b] = g.T @ x and sums[b] = column sums of g, over the rows of each of the blocks b; sums may be None.

    g: [rows, left], x: [rows, right], out: [blocks, left, right], sums: [blocks, left]. All blocks but the last have
    the same number of rows, a multiple of `DEPTH`.
    """
    rows, left = g.shape
    column_sums = np.empty(left, x.dtype)
    size = block_rows(rows, len(out))
    number = next_block(claim)
    while number < len(out):
        out[number] = 0
        begin, end = number * size, min(rows, (number + 1) * size)
        add_transposed(g, x, begin, end, out[number])
        if sums is not None:
            sums[number] = 0
            for first in range(begin, end, DEPTH):
                sum_rows(g, first, min(end, first + DEPTH), column_sums)
                for k in range(left):
                    sums[number, k] += column_sums[k]
        number = next_block(claim)


@compiled
def sum_rows(x: Array, begin: int, end: int, out: Array) -> None:
    """out [width] = sum of the rows `begin` to `end` of x, in their order; sums are stored after four rows."""
    out[:] = 0
    whole = begin + (end - begin) // 4 * 4
    for r in range(begin, whole, 4):
        for k in range(len(out)):
            out[k] = out[k] + x[r, k] + x[r + 1, k] + x[r + 2, k] + x[r + 3, k]
    for r in range(whole, end):
        for k in range(len(out)):
            out[k] += x[r, k]


@compiled
def block_rows(rows: int, blocks: int) -> int:
    """Return the rows of a block of a transposed product: a multiple of `DEPTH`."""
    return (rows + blocks * DEPTH - 1) // (blocks * DEPTH) * DEPTH


@compiled
def add_transposed(g: Array, x: Array, begin: int, end: int, out: Array) -> None:
    """out += g.T @ x over the rows `begin` to `end`, block by block of `DEPTH` rows."""
    left, right = out.shape
    flat_g, flat_x, into = g.reshape(-1), x.reshape(-1), out.reshape(-1)
    for first in range(begin, end, DEPTH):
        count = min(end - first, DEPTH)
        column = 0
        while column < right:
            panel, size = added_panel_of(column, right)
            left_tile, right_tile = (flat_g, first * left, 1, left), (flat_x, first * right + panel, right)
            add_strip(left, panel, size, column - panel, left_tile, right_tile, count, into, right)
            column = panel + size


@compiled
def strided_product(
    rows: int,
    columns: int,
    inner: int,
    left: tuple[Array, int, int, int],
    right: tuple[Array, int, int],
    out: Array,
) -> None:
    """out[r, c] = sum over k < inner of left[r, k] * right[k, c] for flat arrays; out has at least 8 columns.

    left: array, offset and the strides of rows and of the inner dimension; right: array, offset and the stride of the
    inner dimension. Fewer than 12 rows are computed as 12: left and out have room for them.
    """
    b, at, stride = right
    column = 0
    while column < columns:
        begin, size = panel_of(column, columns)
        panel = (b, at + begin, stride)
        most = max(rows, TILE_ROWS)
        strip((0, rows, most), begin, size, left, panel, inner, None, out, columns, NO_MORE, None, None)
        column = begin + size


@compiled
def _pack(weight: Array, transposed: bool, begin: int, size: int, panel: Array) -> None:
    """Pack the columns `begin` to `begin + size` of weight, or of weight.T if `transposed`, contiguously by row."""
    inner, flat = weight.shape[1], weight.reshape(-1)
    if transposed and inner >= LANES:
        for c in range(0, size, LANES):
            for first in range(0, inner, LANES):
                k = min(first, inner - LANES)
                transpose(panel, k * size + c, size, flat, (begin + c) * inner + k, inner)
    elif transposed:
        for k in range(inner):
            for c in range(size):
                panel[k * size + c] = weight[begin + c, k]
    else:
        for k in range(weight.shape[0]):
            for c in range(0, size, LANES):
                copy(panel, k * size + c, flat, k * inner + begin + c)
