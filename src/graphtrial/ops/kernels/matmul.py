"""Matrix products of a tall and a small matrix, faster than BLAS at the widths of graph networks.

The last tile overlaps the one before instead of reaching beyond the result, which needs at least 12 rows and 8 columns.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.lanes import transpose
from graphtrial.ops.kernels.matmul_tile import TILES
from graphtrial.ops.kernels.vector import LANES

tile1, tile2, tile3 = TILES
DEPTH = 96  # rows of both factors per cache block of a transposed product
TILE_ROWS = 12  # rows of the highest tile
ROWS = 240  # rows per cache block; a multiple of the height of every tile


@compiled
def matmul(claim: Array, x: Array, weight: Array, transposed: bool, bias: Array, out: Array) -> None:
    """out = x @ weight (+ bias), or x @ weight.T (+ bias) if `transposed`; x: [rows, inner]; bias may be None."""
    rows, inner = x.shape
    first = ROWS * next_block(claim)
    if first >= rows:
        return
    packed = np.empty(inner * (out.shape[1] + 2 * LANES), x.dtype)
    pack(weight, transposed, inner, out.shape[1], packed)
    while first < rows:
        matmul_rows(x, packed, bias, out, first, min(rows, first + ROWS))
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
def matmul_rows(x: Array, packed: Array, bias: Array, out: Array, first: int, last: int) -> None:
    """Compute the rows `first` to `last` of a product; `last` is the end or a multiple of `ROWS` beyond `first`."""
    rows, inner = x.shape
    columns = out.shape[1]
    flat, into = x.reshape(-1), out.reshape(-1)
    at = column = 0
    while column < columns:
        begin, size = panel_of(column, columns)
        left, right = (flat, 0, inner, 1), (packed, at, size)
        strip((first, last, rows), begin, size, left, right, inner, bias, into, columns, (None, 0, 0), None)
        at, column = at + inner * size, begin + size


@compiled
def matmul_transposed(claim: Array, g: Array, x: Array, out: Array, sums: Array) -> None:
    """out[b] = g.T @ x and sums[b] = column sums of g, over the rows of each of the blocks b; sums may be None.

    g: [rows, left], x: [rows, right], out: [blocks, left, right], sums: [blocks, left]. All blocks but the last have
    the same number of rows, a multiple of `DEPTH`.
    """
    rows, left = g.shape
    partial, column_sums = np.empty(left * x.shape[1], x.dtype), np.empty(left, x.dtype)
    size = block_rows(rows, len(out))
    number = next_block(claim)
    while number < len(out):
        out[number] = 0
        begin, end = number * size, min(rows, (number + 1) * size)
        add_transposed(g, x, begin, end, partial, out[number])
        if sums is not None:
            sums[number] = 0
            for first in range(begin, end, DEPTH):
                sum_rows(g, first, min(end, first + DEPTH), column_sums)
                for k in range(left):
                    sums[number, k] += column_sums[k]
        number = next_block(claim)


@compiled
def sum_rows(x: Array, begin: int, end: int, out: Array) -> None:
    """out [width] = sum of the rows `begin` to `end` of x, in their order."""
    out[:] = 0
    for r in range(begin, end):
        for k in range(len(out)):
            out[k] += x[r, k]


@compiled
def block_rows(rows: int, blocks: int) -> int:
    """Return the rows of a block of a transposed product: a multiple of `DEPTH`."""
    return (rows + blocks * DEPTH - 1) // (blocks * DEPTH) * DEPTH


@compiled
def add_transposed(g: Array, x: Array, begin: int, end: int, partial: Array, out: Array) -> None:
    """out += g.T @ x over the rows `begin` to `end`; `partial` [left * right] is a buffer."""
    left, right = out.shape
    flat_g, flat_x, into = g.reshape(-1), x.reshape(-1), out.reshape(-1)
    for first in range(begin, end, DEPTH):
        count = min(end - first, DEPTH)
        column = 0
        while column < right:
            panel, size = panel_of(column, right)
            left_tile, right_tile = (flat_g, first * left, 1, left), (flat_x, first * right + panel, right)
            strip((0, left, left), panel, size, left_tile, right_tile, count, None, partial, right, (None, 0, 0), None)
            column = panel + size
        for k in range(left * right):
            into[k] += partial[k]


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
        strip((0, rows, most), begin, size, left, panel, inner, None, out, columns, (None, 0, 0), None)
        column = begin + size


@compiled
def strip(
    rows: tuple[int, int, int],
    begin: int,
    size: int,
    left: tuple[Array, int, int, int],
    right: tuple[Array, int, int],
    inner: int,
    start: Array,
    out: Array,
    width: int,
    more: tuple[Array, int, int],
    start_index: Array,
) -> None:
    """Compute the columns `begin` to `begin + size`, one panel, of a block of rows of the result.

    rows: first row, end, and the total number of rows, which no tile exceeds; left, right: array, offset and strides as
    in `TILES`; width: columns of the result; more: further columns of the left matrix, offset and number, or None;
    start_index: as in `TILES`.
    """
    first, last, most = rows
    c, c_at, c_inner = more
    a, a_at, a_row, a_inner = left
    b, b_at, b_inner = right
    if size == 3 * LANES:
        for row in range(first, last, 4):
            r = min(row, most - 4)
            at, into = a_at + r * a_row, r * width + begin
            tile3(
                a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width,
                c, c_at + r * c_inner, c_inner, start_index, r,
            )  # fmt: skip
    elif size == 2 * LANES:
        for row in range(first, last, 6):
            r = min(row, most - 6)
            at, into = a_at + r * a_row, r * width + begin
            tile2(
                a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width,
                c, c_at + r * c_inner, c_inner, start_index, r,
            )  # fmt: skip
    else:
        for row in range(first, last, 12):
            r = min(row, most - 12)
            at, into = a_at + r * a_row, r * width + begin
            tile1(
                a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width,
                c, c_at + r * c_inner, c_inner, start_index, r,
            )  # fmt: skip


@compiled
def panel_of(column: int, columns: int) -> tuple[int, int]:
    """Return first column and size of the panel for the columns from `column` on."""
    size = LANES * max(1, min(3, (columns - column) // LANES))
    return min(column, columns - size), size


@compiled
def _pack(weight: Array, transposed: bool, begin: int, size: int, panel: Array) -> None:
    """Pack the columns `begin` to `begin + size` of weight, or of weight.T if `transposed`, contiguously by row."""
    inner = weight.shape[1]
    if transposed and inner >= LANES:
        flat = weight.reshape(-1)
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
            for c in range(size):
                panel[k * size + c] = weight[k, begin + c]
