"""Products of a tall matrix and a small one, faster than those of a general library at the widths of our models.

The last tiles overlap those before instead of leaving the result, which needs 12 rows and 8 columns at least.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.lanes import LANES
from graphtrial.ops.kernels.tiles import TILES

tile1, tile2, tile3 = TILES
DEPTH = 96  # rows of both factors that stay in the cache in the product of a turned matrix
ROWS = 240  # that stay in the cache while the columns go by; a multiple of the height of every tile


@compiled
def multiply(x: Array, weight: Array, turned: bool, bias: Array, out: Array) -> None:
    """out = x @ weight (+ bias), or x @ weight.T if it is `turned`; x: [rows, inner]."""
    rows, inner = x.shape
    columns = out.shape[1]
    flat, into = x.reshape(-1), out.reshape(-1)
    packed = np.empty(inner * (columns + 2 * LANES), x.dtype)
    at = column = 0
    while column < columns:
        begin, size = _panel(column, columns)
        _pack(weight, turned, begin, size, packed[at : at + inner * size])
        at, column = at + inner * size, begin + size
    for first in range(0, rows, ROWS):
        here = first, min(rows, first + ROWS), rows
        at = column = 0
        while column < columns:
            begin, size = _panel(column, columns)
            _strip(here, begin, size, (flat, 0, inner, 1), (packed, at, size), inner, bias, into, columns)
            at, column = at + inner * size, begin + size


@compiled
def multiply_turned(g: Array, x: Array, out: Array, sums: Array) -> None:
    """out += g.T @ x, sums (if any) += column sums of g; g: [rows, left], x: [rows, right], out: [left, right]."""
    rows, left = g.shape
    right = x.shape[1]
    flat_g, flat_x, into = g.reshape(-1), x.reshape(-1), out.reshape(-1)
    part, of_part = np.empty(left * right, x.dtype), np.empty(left, x.dtype)
    for first in range(0, rows, DEPTH):
        count = min(rows - first, DEPTH)
        column = 0
        while column < right:
            begin, size = _panel(column, right)
            of_g, of_x = (flat_g, first * left, 1, left), (flat_x, first * right + begin, right)
            _strip((0, left, left), begin, size, of_g, of_x, count, None, part, right)
            column = begin + size
        for k in range(left * right):
            into[k] += part[k]
        if sums is not None:
            of_part[:] = 0
            for r in range(first, first + count):
                for k in range(left):
                    of_part[k] += g[r, k]
            for k in range(left):
                sums[k] += of_part[k]


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
    """Fill the columns from `begin` on, as many as the panel's `size`, of some rows of the result.

    rows: first, end, and the number there are, at which the last tiles end; left, right: array, place and distances as
    `TILES` take them; `width` is that of the result.
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
    """Return where the panel that has this column first among those left begins, and its size."""
    size = LANES * max(1, min(3, (columns - column) // LANES))
    return min(column, columns - size), size


@compiled
def _pack(weight: Array, turned: bool, begin: int, size: int, panel: Array) -> None:
    """Write the columns from `begin` on of the weight, `turned` or not, row by row."""
    if turned:
        for k in range(weight.shape[1]):
            for c in range(size):
                panel[k * size + c] = weight[begin + c, k]
    else:
        for k in range(weight.shape[0]):
            for c in range(size):
                panel[k * size + c] = weight[k, begin + c]
