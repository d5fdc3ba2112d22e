"""Matrix products with a left matrix [a, b] whose halves are arrays of their own, with the bits of `kernels.matmul`.

A panel of columns that reaches from one half into the other goes through a small buffer.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.lanes import copy
from graphtrial.ops.kernels.matmul import DEPTH, ROWS, block_rows, pack, sum_rows
from graphtrial.ops.kernels.strips import NO_MORE, TILE_ROWS, WIDEST, add_strip, added_panel_of, panel_of, strip
from graphtrial.ops.kernels.vector import LANES


@compiled
def joined_matmul(claim: Array, a: Array, b: Array, weight: Array, bias: Array, out: Array) -> None:
    """out = [a, b] @ weight.T + bias."""
    rows, columns = out.shape
    inner = a.shape[1] + b.shape[1]
    flat_a, flat_b, into = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    packed = np.empty(inner * (columns + 2 * LANES), a.dtype)
    pack(weight, True, inner, columns, packed)
    first = ROWS * next_block(claim)
    while first < rows:
        bounds = (first, min(rows, first + ROWS), rows)
        left, more = (flat_a, 0, a.shape[1], 1), (flat_b, 0, b.shape[1])
        at = column = 0
        while column < columns:
            begin, size = panel_of(column, columns)
            strip(bounds, begin, size, left, (packed, at, size), a.shape[1], bias, into, columns, more, None, None)
            at, column = at + inner * size, begin + size
        first = ROWS * next_block(claim)


@compiled
def started_matmul(claim: Array, index: Array, start: Array, b: Array, weight: Array, out: Array) -> None:
    """out[r] = start[index[r]] + b[r] @ weight[:, -n:].T for the last n columns of weight, as many as b has.

    The second half of `joined_matmul`, where rows of the first matrix are those of a small table by `index`.
    """
    rows, columns = out.shape
    inner, skipped = weight.shape[1], weight.shape[1] - b.shape[1]
    flat_b, first_rows, into = b.reshape(-1), start.reshape(-1), out.reshape(-1)
    packed = np.empty(inner * (columns + 2 * LANES), b.dtype)
    pack(weight, True, inner, columns, packed)
    first = ROWS * next_block(claim)
    while first < rows:
        bounds, left = (first, min(rows, first + ROWS), rows), (flat_b, 0, b.shape[1], 1)
        at = column = 0
        while column < columns:
            begin, size = panel_of(column, columns)
            right = (packed, at + skipped * size, size)
            strip(bounds, begin, size, left, right, b.shape[1], first_rows, into, columns, NO_MORE, index, None)
            at, column = at + inner * size, begin + size
        first = ROWS * next_block(claim)


@compiled
def joined_matmul_input(claim: Array, g: Array, weight: Array, a: Array, b: Array) -> None:
    """[a, b] = g @ weight."""
    rows, inner = g.shape
    half, columns = a.shape[1], a.shape[1] + b.shape[1]
    flat, flat_a, flat_b = g.reshape(-1), a.reshape(-1), b.reshape(-1)
    packed = np.empty(inner * (columns + 2 * LANES), g.dtype)
    pack(weight, False, inner, columns, packed)
    buffer = np.empty((ROWS + TILE_ROWS) * WIDEST, g.dtype)
    first = ROWS * next_block(claim)
    while first < rows:
        last = min(rows, first + ROWS)
        bounds, left = (first, last, rows), (flat, 0, inner, 1)
        at = column = 0
        while column < columns:
            begin, size = panel_of(column, columns)
            right = (packed, at, size)
            if begin + size <= half:
                strip(bounds, begin, size, left, right, inner, None, flat_a, half, NO_MORE, None, None)
            elif begin >= half:
                strip(bounds, begin - half, size, left, right, inner, None, flat_b, columns - half, NO_MORE, None, None)
            else:
                start = max(0, min(first, rows - TILE_ROWS))  # the last tile may begin before the block
                shifted = (flat, start * inner, inner, 1)
                below = (first - start, last - start, rows - start)
                strip(below, 0, size, shifted, right, inner, None, buffer, size, NO_MORE, None, None)
                for r in range(first, last):
                    row = (r - start) * size - begin
                    _copy(flat_a, r * half + begin, buffer, row + begin, half - begin)
                    _copy(flat_b, r * (columns - half), buffer, row + half, begin + size - half)
            at, column = at + inner * size, begin + size
        first = ROWS * next_block(claim)


@compiled
def joined_matmul_weight(claim: Array, g: Array, a: Array, b: Array, out: Array, sums: Array) -> None:
    """out[n] = g.T @ [a, b] and sums[n] = column sums of g over the rows of each block n, as `matmul_transposed`."""
    rows, left = g.shape
    half, right = a.shape[1], out.shape[2]
    flat_g, flat_a, flat_b = g.reshape(-1), a.reshape(-1), b.reshape(-1)
    column_sums, buffer = np.empty(left, g.dtype), np.empty(DEPTH * WIDEST, g.dtype)
    size_of_block = block_rows(rows, len(out))
    number = next_block(claim)
    while number < len(out):
        total = out[number].reshape(-1)
        total[:] = 0
        sums[number] = 0
        end = min(rows, (number + 1) * size_of_block)
        for first in range(number * size_of_block, end, DEPTH):
            count = min(end - first, DEPTH)
            tile = (flat_g, first * left, 1, left)
            column = 0
            while column < right:
                begin, size = added_panel_of(column, right)
                if begin + size <= half:
                    panel = (flat_a, first * half + begin, half)
                elif begin >= half:
                    panel = (flat_b, first * (right - half) + begin - half, right - half)
                else:
                    for r in range(count):
                        row, of_a = first + r, half - begin
                        _copy(buffer, r * size, flat_a, row * half + begin, of_a)
                        _copy(buffer, r * size + of_a, flat_b, row * (right - half), size - of_a)
                    panel = (buffer, 0, size)
                add_strip(left, begin, size, column - begin, tile, panel, count, total, right)
                column = begin + size
            sum_rows(g, first, first + count, column_sums)
            for k in range(left):
                sums[number, k] += column_sums[k]
        number = next_block(claim)


@compiled
def _copy(into: Array, at: int, x: Array, first: int, count: int) -> None:
    """Copy `count` elements of a flat array."""
    if count < LANES:
        for k in range(count):
            into[at + k] = x[first + k]
        return
    for k in range(0, count, LANES):
        shift = min(k, count - LANES)
        copy(into, at + shift, x, first + shift)
