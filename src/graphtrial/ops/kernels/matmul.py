"""Matrix products of a tall and a small matrix, faster than BLAS at the widths of graph networks.

The last tile overlaps the one before instead of reaching beyond the result, which needs at least 12 rows and 8 columns.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.matmul_tile import TILES
from graphtrial.ops.kernels.simd import LANES

tile1, tile2, tile3 = TILES
DEPTH = 96  # rows of both factors per cache block of a transposed product
ROWS = 240  # rows per cache block; a multiple of the height of every tile


@compiled
def matmul(x: Array, weight: Array, transposed: bool, bias: Array, out: Array) -> None:
    """out = x @ weight (+ bias), or x @ weight.T (+ bias) if `transposed`; x: [rows, inner]; bias may be None."""
    rows, inner = x.shape
    columns = out.shape[1]
    flat, into = x.reshape(-1), out.reshape(-1)
    packed = np.empty(inner * (columns + 2 * LANES), x.dtype)
    at = column = 0
    while column < columns:
        begin, size = _panel(column, columns)
        _pack(weight, transposed, begin, size, packed[at : at + inner * size])
        at, column = at + inner * size, begin + size
    for first in range(0, rows, ROWS):
        here = first, min(rows, first + ROWS), rows
        at = column = 0
        while column < columns:
            begin, size = _panel(column, columns)
            _strip(here, begin, size, (flat, 0, inner, 1), (packed, at, size), inner, bias, into, columns)
            at, column = at + inner * size, begin + size


@compiled
def matmul_transposed(g: Array, x: Array, out: Array, sums: Array) -> None:
    """out += g.T @ x; sums, unless None, += column sums of g; g: [rows, left], x: [rows, right], out: [left, right]."""
    rows, left = g.shape
    right = x.shape[1]
    flat_g, flat_x, into = g.reshape(-1), x.reshape(-1), out.reshape(-1)
    partial, column_sums = np.empty(left * right, x.dtype), np.empty(left, x.dtype)
    for first in range(0, rows, DEPTH):
        count = min(rows - first, DEPTH)
        column = 0
        while column < right:
            begin, size = _panel(column, right)
            left_tile, right_tile = (flat_g, first * left, 1, left), (flat_x, first * right + begin, right)
            _strip((0, left, left), begin, size, left_tile, right_tile, count, None, partial, right)
            column = begin + size
        for k in range(left * right):
            into[k] += partial[k]
        if sums is not None:
            column_sums[:] = 0
            for r in range(first, first + count):
                for k in range(left):
                    column_sums[k] += g[r, k]
            for k in range(left):
                sums[k] += column_sums[k]


@compiled
def _strip(
    rows: tuple[int, int, int],
    begin: int,
    size: int,
    left: tuple[Array, int, int, int],
    right: tuple[Array, int, int],
    inner: int,
    start: Array,
    out: Array,
    width: int,
) -> None:
    """Compute the columns `begin` to `begin + size`, one panel, of a block of rows of the result.

    rows: first row, end, and the total number of rows, which no tile exceeds; left, right: array, offset and strides as
    in `TILES`; width: columns of the result.
    """
    first, last, most = rows
    a, a_at, a_row, a_inner = left
    b, b_at, b_inner = right
    if size == 3 * LANES:
        for row in range(first, last, 4):
            r = min(row, most - 4)
            at, into = a_at + r * a_row, r * width + begin
            tile3(a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width)
    elif size == 2 * LANES:
        for row in range(first, last, 6):
            r = min(row, most - 6)
            at, into = a_at + r * a_row, r * width + begin
            tile2(a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width)
    else:
        for row in range(first, last, 12):
            r = min(row, most - 12)
            at, into = a_at + r * a_row, r * width + begin
            tile1(a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width)


@compiled
def _panel(column: int, columns: int) -> tuple[int, int]:
    """Return first column and size of the panel for the columns from `column` on."""
    size = LANES * max(1, min(3, (columns - column) // LANES))
    return min(column, columns - size), size


@compiled
def _pack(weight: Array, transposed: bool, begin: int, size: int, panel: Array) -> None:
    """Pack the columns `begin` to `begin + size` of weight, or of weight.T if `transposed`, contiguously by row."""
    if transposed:
        for k in range(weight.shape[1]):
            for c in range(size):
                panel[k * size + c] = weight[begin + c, k]
    else:
        for k in range(weight.shape[0]):
            for c in range(size):
                panel[k * size + c] = weight[k, begin + c]
