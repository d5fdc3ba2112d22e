"""Weighted sums and maxima over the rows of a sparse matrix."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.lanes import LANES, ROW_SUMS, inner_product

sum1, sum2, sum3, sum4, sum5, sum6, sum7, sum8 = ROW_SUMS
MOST = len(ROW_SUMS)
TILE = 64  # rows


@compiled
def weighted_sum(ptr: Array, index: Array, order: Array, weight: Array, own: Array, x: Array, out: Array) -> None:
    """out[i] = sum over entries e of row i of weight[e] * x[index[e]]; weight [entries], x and out [rows, width].

    With `own` [1], of a square matrix, own * x[i] is added. Some rows are taken together, and of these at most 64
    columns at a time, whose sums stay in registers; the last groups of eight columns may overlap those before.
    """
    rows, width = out.shape
    if width < LANES:
        _narrow_sum(ptr, index, order, weight, own, x, out)
        return
    for first in range(0, rows, TILE):
        last = min(rows, first + TILE)
        _wide_sum(ptr, index, order, weight, 0, 1, own, x.reshape(-1), out.reshape(-1), first, last, width, 0, width)


@compiled
def _wide_sum(
    ptr: Array,
    index: Array,
    order: Array,
    weight: Array,
    at: int,
    step: int,
    own: Array,
    x: Array,
    out: Array,
    first: int,
    last: int,
    stride: int,
    start: int,
    width: int,
) -> None:
    """Sum up the columns from `start` on, `width` of them, for some rows of flat arrays of `stride` columns."""
    column = 0
    while column < width:
        groups = min(MOST, (width - column + LANES - 1) // LANES, width // LANES)
        begin = min(column, width - groups * LANES)
        column = begin + groups * LANES
        c = start + begin
        for i in range(first, last):
            if groups == 8:
                sum8(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            elif groups == 7:
                sum7(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            elif groups == 6:
                sum6(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            elif groups == 5:
                sum5(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            elif groups == 4:
                sum4(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            elif groups == 3:
                sum3(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            elif groups == 2:
                sum2(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)
            else:
                sum1(out, i, x, stride, c, index, order, weight, at, step, ptr[i], ptr[i + 1], own)


@compiled
def _narrow_sum(ptr: Array, index: Array, order: Array, weight: Array, own: Array, x: Array, out: Array) -> None:
    rows, width = out.shape
    for i in range(rows):
        for k in range(width):
            out[i, k] = 0 if own is None else own[0] * x[i, k]
        for e in range(ptr[i], ptr[i + 1]):
            w = weight[e] if order is None else weight[order[e]]
            for k in range(width):
                out[i, k] += w * x[index[e], k]


@compiled
def weighted_sum_heads(ptr: Array, index: Array, order: Array, weight: Array, x: Array, out: Array) -> None:
    """The same for several heads: weight [entries, heads], x and out [rows, heads, width]."""
    rows, heads, width = out.shape
    if width < LANES:
        _narrow_heads(ptr, index, order, weight, x, out)
        return
    flat_x, flat_out, weights = x.reshape(-1), out.reshape(-1), weight.reshape(-1)
    stride = heads * width
    for first in range(0, rows, TILE):
        last = min(rows, first + TILE)
        for h in range(heads):
            start = h * width
            _wide_sum(ptr, index, order, weights, h, heads, None, flat_x, flat_out, first, last, stride, start, width)


@compiled
def _narrow_heads(ptr: Array, index: Array, order: Array, weight: Array, x: Array, out: Array) -> None:
    rows, heads, width = out.shape
    for i in range(rows):
        out[i] = 0
        for e in range(ptr[i], ptr[i + 1]):
            at = e if order is None else order[e]
            from_row = x[index[e]]
            for h in range(heads):
                w, into, values = weight[at, h], out[i, h], from_row[h]
                for k in range(width):
                    into[k] += w * values[k]


@compiled
def entry_dot(ptr: Array, index: Array, left: Array, right: Array, out: Array) -> None:
    """out[e, h] = left[i, h] . right[index[e], h] for each entry e of row i; left and right [rows, heads, width]."""
    rows, heads, width = left.shape
    groups = width // LANES
    flat_left, flat_right = left.reshape(-1), right.reshape(-1)
    for i in range(rows):
        for e in range(ptr[i], ptr[i + 1]):
            for h in range(heads):
                a, b = (i * heads + h) * width, (index[e] * heads + h) * width
                total = inner_product(flat_left, a, flat_right, b, groups)
                for k in range(groups * LANES, width):
                    total += flat_left[a + k] * flat_right[b + k]
                out[e, h] = total


@compiled
def maximum(ptr: Array, index: Array, x: Array, out: Array, winner: Array) -> None:
    """out[i] = elementwise maximum of x over row i, 0 if empty; winner is the column that gave it, -1 for none."""
    rows, width = out.shape
    for i in range(rows):
        begin, end = ptr[i], ptr[i + 1]
        if begin == end:
            out[i] = 0
            winner[i] = -1
            continue
        out[i] = x[index[begin]]
        winner[i] = index[begin]
        for e in range(begin + 1, end):
            j = index[e]
            for k in range(width):
                if x[j, k] > out[i, k]:
                    out[i, k] = x[j, k]
                    winner[i, k] = j


@compiled
def maximum_backward(gradient: Array, winner: Array, out: Array) -> None:
    """Give each gradient to the entry that won; `out` starts as zeros."""
    rows, width = gradient.shape
    for i in range(rows):
        for k in range(width):
            if winner[i, k] >= 0:
                out[winner[i, k], k] += gradient[i, k]
