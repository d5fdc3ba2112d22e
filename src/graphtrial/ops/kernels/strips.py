"""Strips of a matrix product: the tiles of one panel of columns, one below the other."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.matmul_tile import ADDING_TILES, TILES, Add, Relu
from graphtrial.ops.kernels.vector import LANES

tile1, tile2, tile3 = TILES
add1, add2, add3 = ADDING_TILES
TILE_ROWS = 12  # rows of the highest tile
NO_MORE = (None, 0, 0)  # no further columns of the left matrix


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
    epilogue: Relu | Add | None,
) -> None:
    """Compute the columns `begin` to `begin + size`, one panel, of a block of rows of the result.

    rows: first row, end, and the total number of rows, which no tile exceeds; left, right: array, offset and strides as
    in `TILES`; width: columns of the result; more: further columns of the left matrix, offset and number, or None;
    start_index: as in `TILES`; epilogue: of each tile.
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
                c, c_at + r * c_inner, c_inner, start_index, r, epilogue,
            )  # fmt: skip
    elif size == 2 * LANES:
        for row in range(first, last, 6):
            r = min(row, most - 6)
            at, into = a_at + r * a_row, r * width + begin
            tile2(
                a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width,
                c, c_at + r * c_inner, c_inner, start_index, r, epilogue,
            )  # fmt: skip
    else:
        for row in range(first, last, 12):
            r = min(row, most - 12)
            at, into = a_at + r * a_row, r * width + begin
            tile1(
                a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width,
                c, c_at + r * c_inner, c_inner, start_index, r, epilogue,
            )  # fmt: skip


@compiled
def add_strip(
    rows: int,
    begin: int,
    size: int,
    skip: int,
    left: tuple[Array, int, int, int],
    right: tuple[Array, int, int],
    inner: int,
    out: Array,
    width: int,
) -> None:
    """Add a product to the columns `begin + skip` to `begin + size`, one panel; other arguments as those of `strip`.

    A last tile that overlaps the one before, or a panel that overlaps the one before by `skip` columns, goes through a
    buffer, so that nothing is added twice.
    """
    a, a_at, a_row, a_inner = left
    b, b_at, b_inner = right
    height = TILE_ROWS * LANES // size
    whole = 0 if skip else rows // height * height
    for r in range(0, whole, height):
        at, into = a_at + r * a_row, r * width + begin
        if size == 3 * LANES:
            add3(a, at, a_row, a_inner, b, b_at, b_inner, inner, None, 0, out, into, width, *NO_MORE, None, 0, None)
        elif size == 2 * LANES:
            add2(a, at, a_row, a_inner, b, b_at, b_inner, inner, None, 0, out, into, width, *NO_MORE, None, 0, None)
        else:
            add1(a, at, a_row, a_inner, b, b_at, b_inner, inner, None, 0, out, into, width, *NO_MORE, None, 0, None)
    if whole < rows:
        first = min(whole, rows - height)
        buffer, below = np.empty((rows - first) * size, out.dtype), (a, a_at + first * a_row, a_row, a_inner)
        bounds = (0, rows - first, rows - first)
        strip(bounds, 0, size, below, right, inner, None, buffer, size, NO_MORE, None, None)
        for r in range(whole, rows):
            for c in range(skip, size):
                out[r * width + begin + c] += buffer[(r - first) * size + c]


@compiled
def panel_of(column: int, columns: int) -> tuple[int, int]:
    """Return first column and size of the panel for the columns from `column` on."""
    size = LANES * max(1, min(3, (columns - column) // LANES))
    return min(column, columns - size), size
