"""Matrix products of towers: groups of channels, each with a weight matrix of its own."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.matmul import DEPTH, ROWS, pack
from graphtrial.ops.kernels.strips import NO_MORE, add_strip, added_panel_of, panel_of, strip
from graphtrial.ops.kernels.vector import LANES


@compiled
def tower_matmul(claim: Array, x: Array, weight: Array, transposed: bool, bias: Array, out: Array) -> None:
    """out[:, t] = x[:, t] @ weight[t] (+ bias[t]) for each tower t, or x[:, t] @ weight[t].T (+ bias[t]).

    x: [rows, towers * inner], weight: [towers, ., .], out: [rows, towers * columns], bias: flat, or None. At least 12
    rows and 8 columns.
    """
    towers, columns, inner = weight.shape
    if not transposed:
        inner, columns = columns, inner
    rows, first = len(x), ROWS * next_block(claim)
    if first >= rows:
        return
    size_of_tower = inner * (columns + 2 * LANES)
    packed = np.empty(towers * size_of_tower, x.dtype)
    for t in range(towers):
        pack(weight[t], transposed, inner, columns, packed[t * size_of_tower : (t + 1) * size_of_tower])
    flat, into, width = x.reshape(-1), out.reshape(-1), towers * columns
    while first < rows:
        bounds = (first, min(rows, first + ROWS), rows)
        for t in range(towers):
            at, column = t * size_of_tower, 0
            left = (flat, t * inner, towers * inner, 1)
            while column < columns:
                begin, size = panel_of(column, columns)
                place = t * columns + begin
                strip(bounds, place, size, left, (packed, at, size), inner, bias, into, width, NO_MORE, None, None)
                at, column = at + inner * size, begin + size
        first = ROWS * next_block(claim)


@compiled
def tower_matmul_weight(claim: Array, g: Array, x: Array, out: Array) -> None:
    """out[t] = g[:, t].T @ x[:, t] for each tower t, summed over blocks of `DEPTH` rows.

    g: [rows, towers * left], x: [rows, towers * right], out: [towers, left, right], at least 12 x 8.
    """
    towers, left, right = out.shape
    rows = len(g)
    flat_g, flat_x = g.reshape(-1), x.reshape(-1)
    t = next_block(claim)
    while t < towers:
        into = out[t].reshape(-1)
        into[:] = 0
        for first in range(0, rows, DEPTH):
            count, column = min(rows - first, DEPTH), 0
            tile = (flat_g, first * towers * left + t * left, 1, towers * left)
            while column < right:
                begin, size = added_panel_of(column, right)
                panel = (flat_x, first * towers * right + t * right + begin, towers * right)
                add_strip(left, begin, size, column - begin, tile, panel, count, into, right)
                column = begin + size
        t = next_block(claim)
