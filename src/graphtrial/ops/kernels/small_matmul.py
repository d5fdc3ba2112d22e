"""Matrix products that are too small for register tiles, and sums over rows, by plain loops.

Sums over rows are taken for blocks of `DEPTH` rows and then over blocks, as in `kernels.matmul`.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.dot_product import dot_product
from graphtrial.ops.kernels.matmul import DEPTH, sum_rows
from graphtrial.ops.kernels.vector import LANES


@compiled
def small_matmul(x: Array, weight: Array, transposed: bool, bias: Array, out: Array) -> None:
    """out = x @ weight (+ bias), or x @ weight.T (+ bias) if `transposed`; bias may be None."""
    rows, inner = x.shape
    columns = out.shape[1]
    if transposed and columns < LANES:
        for r in range(rows):
            for c in range(columns):
                total = dot_product(x[r], weight[c])
                out[r, c] = total if bias is None else total + bias[c]
        return
    panel = weight
    if transposed:
        panel = np.empty((inner, columns), x.dtype)
        for c in range(columns):
            for k in range(inner):
                panel[k, c] = weight[c, k]
    for r in range(rows):
        into = out[r]
        for c in range(columns):
            into[c] = 0 if bias is None else bias[c]
        for k in range(inner):
            factor, row = x[r, k], panel[k]
            for c in range(columns):
                into[c] += factor * row[c]


@compiled
def small_matmul_transposed(g: Array, x: Array, out: Array, sums: Array) -> None:
    """out = g.T @ x and sums = column sums of g; g: [rows, left], x: [rows, right], out: [left, right]."""
    left, right = out.shape
    out[:] = 0
    if right < left:
        partial = np.empty((right, left), x.dtype)
        for first in range(0, len(g), DEPTH):
            _add_products(x, g, first, partial)
            for r in range(left):
                for c in range(right):
                    out[r, c] += partial[c, r]
    else:
        partial = np.empty((left, right), x.dtype)
        for first in range(0, len(g), DEPTH):
            _add_products(g, x, first, partial)
            for r in range(left):
                for c in range(right):
                    out[r, c] += partial[r, c]
    column_sums(g, sums)


@compiled
def _add_products(a: Array, b: Array, first: int, partial: Array) -> None:
    """partial = a.T @ b over the rows `first` to `first + DEPTH`."""
    partial[:] = 0
    for r in range(first, min(len(a), first + DEPTH)):
        row = b[r]
        for k in range(partial.shape[0]):
            factor, into = a[r, k], partial[k]
            for c in range(partial.shape[1]):
                into[c] += factor * row[c]


@compiled
def column_sums(x: Array, out: Array) -> None:
    """out [width] = sum of the rows of x."""
    rows, width = x.shape
    block = np.empty(width, x.dtype)
    out[:] = 0
    for first in range(0, rows, DEPTH):
        sum_rows(x, first, min(rows, first + DEPTH), block)
        for k in range(width):
            out[k] += block[k]


@compiled
def add_blocks(blocks: Array, out: Array) -> None:
    """out = sum of `blocks` [blocks, elements] over blocks, in their order; out: flat, 0 without blocks."""
    if len(blocks) == 0:
        out[:] = 0
        return
    for k in range(len(out)):
        out[k] = blocks[0, k]
    for number in range(1, len(blocks)):
        row = blocks[number]
        for k in range(len(out)):
            out[k] += row[k]


@compiled
def total_product(a: Array, b: Array, out: Array) -> None:
    """out [1] = sum of a * b over all elements: over the columns of a row, then over rows in float64."""
    total = 0.0
    for r in range(len(a)):
        total += dot_product(a[r], b[r])
    out[0] = total


@compiled
def update_statistics(statistics: Array, momentum: float, mean: Array, variance: Array) -> None:
    """Move the running mean and variance towards the `statistics` [2, width] of a batch."""
    factor = statistics.dtype.type(momentum)
    for k in range(len(mean)):
        mean[k] += factor * (statistics[0, k] - mean[k])
        variance[k] += factor * (statistics[1, k] - variance[k])


@compiled
def running_coefficients(
    mean: Array, variance: Array, weight: Array, bias: Array, epsilon: float, columns: Array
) -> None:
    """Set scale and shift of `kernels.batch_norm`, the first rows of `columns` [4, width], by running statistics."""
    for k in range(len(mean)):
        scale = weight[k] / np.sqrt(variance[k] + epsilon)
        columns[0, k] = scale
        columns[1, k] = bias[k] - mean[k] * scale
