"""SpMM with sum and max reduction, and SDDMM, over a CSR matrix."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.dot_product import dot_product
from graphtrial.ops.kernels.row_sum import ROW_SUMS
from graphtrial.ops.kernels.vector import LANES

sum1, sum2, sum3, sum4, sum5, sum6, sum7, sum8 = ROW_SUMS
MAX_VECTORS = len(ROW_SUMS)
TILE = 64  # rows that a thread takes at a time
COLUMNS = 32  # columns likewise: two cache lines


@compiled
def spmm(
    claim: Array,
    vectors: bool,
    ptr: Array,
    index: Array,
    perm: Array,
    weight: Array,
    self_weight: Array,
    x: Array,
    out: Array,
) -> None:
    """out[i] = sum over entries e of row i of weight[e] * x[index[e]]; weight [entries], x and out [rows, width].

    With `self_weight` [1], for a square matrix, self_weight * x[i] is added. Rows are processed in tiles, and of these
    at most 64 columns at a time, whose sums stay in registers; the last vectors of columns may overlap those before.
    Without `vectors`, by plain loops.
    """
    rows, width = out.shape
    flat_x, flat_out = x.reshape(-1), out.reshape(-1)
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        if width < LANES or not vectors:
            _plain_sum(ptr, index, perm, weight, self_weight, x, out, first, last)
        else:
            wide_sum(ptr, index, perm, weight, 0, 1, self_weight, flat_x, flat_out, first, last, width, 0, width)
        first = TILE * next_block(claim)


@compiled
def wide_sum(
    ptr: Array,
    index: Array,
    perm: Array,
    weight: Array,
    at: int,
    step: int,
    self_weight: Array,
    x: Array,
    out: Array,
    first: int,
    last: int,
    stride: int,
    start: int,
    width: int,
) -> None:
    """SpMM of the columns `start` to `start + width` and rows `first` to `last` of flat arrays of `stride` columns.

    The weight of entry e is weight[step * perm[e] + at]; with weight [rows, 8] the lanes have weights of their own.
    """
    column = 0
    while column < width:
        groups = min(MAX_VECTORS, (width - column + LANES - 1) // LANES, width // LANES)
        begin = min(column, width - groups * LANES)
        column = begin + groups * LANES
        c = start + begin
        for i in range(first, last):
            if groups == 8:
                sum8(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            elif groups == 7:
                sum7(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            elif groups == 6:
                sum6(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            elif groups == 5:
                sum5(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            elif groups == 4:
                sum4(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            elif groups == 3:
                sum3(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            elif groups == 2:
                sum2(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)
            else:
                sum1(out, i, x, stride, c, index, perm, weight, at, step, ptr[i], ptr[i + 1], self_weight)


@compiled
def _plain_sum(
    ptr: Array,
    index: Array,
    perm: Array,
    weight: Array,
    self_weight: Array,
    x: Array,
    out: Array,
    first: int,
    last: int,
) -> None:
    width = out.shape[1]
    for i in range(first, last):
        into = out[i]
        if self_weight is None:
            into[:] = 0
        else:
            own = x[i]
            for k in range(width):
                into[k] = self_weight[0] * own[k]
        for e in range(ptr[i], ptr[i + 1]):
            w = weight[e] if perm is None else weight[perm[e]]
            values = x[index[e]]
            for k in range(width):
                into[k] += w * values[k]


@compiled
def spmm_heads(
    claim: Array, vectors: bool, ptr: Array, index: Array, perm: Array, weight: Array, x: Array, out: Array
) -> None:
    """SpMM per head: weight [entries, heads], x and out [rows, heads, width]."""
    rows, heads, width = out.shape
    flat_x, flat_out, weights = x.reshape(-1), out.reshape(-1), weight.reshape(-1)
    stride = heads * width
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        if width < LANES or not vectors:
            _plain_heads(ptr, index, perm, weight, x, out, first, last)
        else:
            for h in range(heads):
                at = h * width
                wide_sum(ptr, index, perm, weights, h, heads, None, flat_x, flat_out, first, last, stride, at, width)
        first = TILE * next_block(claim)


@compiled
def _plain_heads(
    ptr: Array, index: Array, perm: Array, weight: Array, x: Array, out: Array, first: int, last: int
) -> None:
    _, heads, width = out.shape
    for i in range(first, last):
        out[i] = 0
        for e in range(ptr[i], ptr[i + 1]):
            at = e if perm is None else perm[e]
            from_row = x[index[e]]
            for h in range(heads):
                w, into, values = weight[at, h], out[i, h], from_row[h]
                for k in range(width):
                    into[k] += w * values[k]


@compiled
def sddmm(claim: Array, ptr: Array, index: Array, left: Array, right: Array, out: Array) -> None:
    """SDDMM: out[e, h] = left[i, h] . right[index[e], h] for entry e of row i; left, right [rows, heads, width]."""
    rows, heads, _ = left.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for e in range(ptr[i], ptr[i + 1]):
                for h in range(heads):
                    out[e, h] = dot_product(left[i, h], right[index[e], h])
        first = TILE * next_block(claim)


@compiled
def spmm_max(claim: Array, ptr: Array, index: Array, x: Array, out: Array, argmax: Array) -> None:
    """out[i] = elementwise maximum of x over row i, 0 if empty; argmax is its column, -1 for an empty row.

    NaN is the largest number.
    """
    rows, width = out.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            begin, end = ptr[i], ptr[i + 1]
            if begin == end:
                out[i] = 0
                argmax[i] = -1
                continue
            out[i] = x[index[begin]]
            argmax[i] = index[begin]
            for e in range(begin + 1, end):
                j = index[e]
                for k in range(width):
                    if x[j, k] > out[i, k] or x[j, k] != x[j, k]:
                        out[i, k] = x[j, k]
                        argmax[i, k] = j
        first = TILE * next_block(claim)


@compiled
def spmm_max_backward(claim: Array, grad_output: Array, argmax: Array, out: Array) -> None:
    """Add each gradient to the row `argmax` of `out`, which starts as zeros; threads share the columns."""
    rows, width = grad_output.shape
    first = COLUMNS * next_block(claim)
    while first < width:
        last = min(width, first + COLUMNS)
        for i in range(rows):
            for k in range(first, last):
                if argmax[i, k] >= 0:
                    out[argmax[i, k], k] += grad_output[i, k]
        first = COLUMNS * next_block(claim)
