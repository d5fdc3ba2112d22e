"""Strips of a matrix product: the tiles of one panel of columns, one below the other."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.matmul_tile import ADDING_TILES, SHAPES, TILES, Add, Relu
from graphtrial.ops.kernels.vector import LANES

MOST = 6  # shapes; the widest is repeated where there are fewer
tile1, tile2, tile3, tile4, tile5, tile6 = (*TILES, *TILES[-1:] * MOST)[:MOST]
add1, add2, add3, add4, add5, add6 = (*ADDING_TILES, *ADDING_TILES[-1:] * MOST)[:MOST]
_shapes = (*SHAPES, *SHAPES[-1:] * MOST)[:MOST]
HEIGHTS: tuple[int, ...] = tuple(shape.rows for shape in _shapes)
COLUMNS: tuple[int, ...] = tuple(shape.columns for shape in _shapes)
TILE_ROWS, WIDEST = max(HEIGHTS), max(COLUMNS)
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
    height = tile_rows(size)
    for row in range(first, last, height):
        r = min(row, most - height)
        at, more_at, into = a_at + r * a_row, c_at + r * c_inner, r * width + begin
        tile = (
            a, at, a_row, a_inner, b, b_at, b_inner, inner, start, begin, out, into, width,
            c, more_at, c_inner, start_index, r, epilogue,
        )  # fmt: skip
        if size == COLUMNS[5]:
            tile6(*tile)
        elif size == COLUMNS[4]:
            tile5(*tile)
        elif size == COLUMNS[3]:
            tile4(*tile)
        elif size == COLUMNS[2]:
            tile3(*tile)
        elif size == COLUMNS[1]:
            tile2(*tile)
        else:
            tile1(*tile)


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
    height = tile_rows(size)
    whole = 0 if skip else rows // height * height
    for r in range(0, whole, height):
        at, into = a_at + r * a_row, r * width + begin
        tile = (
            a, at, a_row, a_inner, b, b_at, b_inner, inner, None, 0, out, into, width, *NO_MORE, None, 0, None
        )  # fmt: skip
        if size == COLUMNS[5]:
            add6(*tile)
        elif size == COLUMNS[4]:
            add5(*tile)
        elif size == COLUMNS[3]:
            add4(*tile)
        elif size == COLUMNS[2]:
            add3(*tile)
        elif size == COLUMNS[1]:
            add2(*tile)
        else:
            add1(*tile)
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
    """Return first column and size of the panel of `strip` for the columns from `column` on.

    The last one overlaps the one before where columns are no multiple of 8.
    """
    size = _widest((columns - column + LANES - 1) // LANES * LANES, columns)
    return min(column, columns - size), size


@compiled
def added_panel_of(column: int, columns: int) -> tuple[int, int]:
    """Return the panel of `add_strip`, which is slow where panels overlap: only one of 8 columns does."""
    size = _widest(max(LANES, (columns - column) // LANES * LANES), columns)
    return min(column, columns - size), size


@compiled
def _widest(left: int, columns: int) -> int:
    """Return the widest panel that leaves none of the columns, or enough for another of 16: those of 8 are slow."""
    size = COLUMNS[0]
    for wider in COLUMNS:
        if wider <= min(left, columns) and (wider == left or wider + 2 * LANES <= left):
            size = wider
    return size


@compiled
def tile_rows(size: int) -> int:
    """Return the rows of the tiles of a panel."""
    for k in range(len(COLUMNS)):
        if COLUMNS[k] == size:
            return HEIGHTS[k]
    return 0
