"""Instructions on dense matrices: normalisation, elementwise functions and their gradients.

Each takes the `table` of operands, the instruction `c` (its code, then numbers of operands, `NONE` for those left out)
and `claim`: 0, since one thread computes all blocks, and the size of the arena.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.batch_norm import BLOCK as NORM_BLOCK
from graphtrial.ops.kernels.batch_norm import (
    batch_norm,
    batch_norm_backward,
    batch_norm_coefficients,
    column_moments,
    gradient_coefficients,
    gradient_sums,
)
from graphtrial.ops.kernels.dropout import dropout
from graphtrial.ops.kernels.l2_normalize import l2_normalize, l2_normalize_backward
from graphtrial.ops.kernels.small_matmul import (
    running_coefficients,
    update_statistics,
)
from graphtrial.ops.l2_normalize import EPSILON
from graphtrial.tape.memory import matrix, same_place, vector


@compiled
def normalize(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """BATCH_NORM x, weight, bias, residual, columns, statistics, out; activation; epsilon (number)."""
    x, out = matrix(table, c[1]), matrix(table, c[7])
    columns, statistics = matrix(table, c[5]), matrix(table, c[6])
    rows, width = x.shape
    sums, centre = np.empty(((rows + NORM_BLOCK - 1) // NORM_BLOCK, 2, width)), np.empty(width, np.float32)
    claim[0] = 0
    column_moments(claim, x, centre, sums)
    weight, bias = vector(table, c[2]), vector(table, c[3])
    batch_norm_coefficients(rows, centre, sums, weight, bias, numbers[c[9]], columns, statistics)
    apply_norm(table, c[4], claim, x, c[8], columns, out)


@compiled
def apply_norm(
    table: Array, residual: int, claim: Array, x: Array, activation: int, columns: Array, out: Array
) -> None:
    """out = activation(x * scale + shift) + residual, an operand or none."""
    claim[0] = 0
    if residual < 0:
        batch_norm(claim, x, activation, None, columns, out)
    else:
        batch_norm(claim, x, activation, matrix(table, residual), columns, out)


@compiled
def normalize_backward(table: Array, c: Array, claim: Array) -> None:
    """BATCH_NORM_BACKWARD grad_output, x, columns, grad_x, grad_weight, grad_bias; activation."""
    g, x, columns = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
    rows, width = x.shape
    sums, coeffs = np.empty(((rows + NORM_BLOCK - 1) // NORM_BLOCK, 2, width)), np.empty((4, width), np.float32)
    claim[0] = 0
    gradient_sums(claim, g, x, c[7], columns, sums)
    gradient_coefficients(rows, sums, columns, coeffs, vector(table, c[5]), vector(table, c[6]))
    claim[0] = 0
    batch_norm_backward(claim, g, x, c[7], coeffs, matrix(table, c[4]))


@compiled
def move_statistics(table: Array, c: Array, numbers: Array) -> None:
    """UPDATE_STATISTICS statistics, mean, variance; momentum (number)."""
    update_statistics(matrix(table, c[1]), numbers[c[4]], vector(table, c[2]), vector(table, c[3]))


@compiled
def normalize_by_running(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """RUNNING_NORM x, mean, variance, weight, bias, residual, out; activation; epsilon (number)."""
    x = matrix(table, c[1])
    columns = np.empty((4, x.shape[1]), np.float32)
    moments = vector(table, c[2]), vector(table, c[3])
    running_coefficients(moments[0], moments[1], vector(table, c[4]), vector(table, c[5]), numbers[c[9]], columns)
    apply_norm(table, c[6], claim, x, c[8], columns, matrix(table, c[7]))


@compiled
def add(table: Array, c: Array) -> None:
    """ADD a, b, out; out may be in place of a or b."""
    a, b, out = vector(table, c[1]), vector(table, c[2]), vector(table, c[3])
    if same_place(table, c[1], c[3]):
        for k in range(len(out)):
            out[k] += b[k]
    elif same_place(table, c[2], c[3]):
        for k in range(len(out)):
            out[k] += a[k]
    else:
        for k in range(len(out)):
            out[k] = a[k] + b[k]


@compiled
def add_row(table: Array, c: Array) -> None:
    """ADD_ROW x, row, out."""
    x, row, out = matrix(table, c[1]), vector(table, c[2]), matrix(table, c[3])
    for r in range(len(x)):
        for k in range(len(row)):
            out[r, k] = x[r, k] + row[k]


@compiled
def add_number(table: Array, c: Array, numbers: Array) -> None:
    """ADD_NUMBER x, out; number."""
    x, out, value = vector(table, c[1]), vector(table, c[2]), np.float32(numbers[c[3]])
    for k in range(len(x)):
        out[k] = x[k] + value


@compiled
def multiply_column(table: Array, c: Array) -> None:
    """MULTIPLY_COLUMN x, column, out."""
    x, column, out = matrix(table, c[1]), vector(table, c[2]), matrix(table, c[3])
    for r in range(len(x)):
        for k in range(x.shape[1]):
            out[r, k] = x[r, k] * column[r]


@compiled
def relu(table: Array, c: Array) -> None:
    """RELU x, out; NaN is kept."""
    x, out, zero = vector(table, c[1]), vector(table, c[2]), np.float32(0)
    for k in range(len(x)):
        out[k] = zero if x[k] < zero else x[k]


@compiled
def relu_backward(table: Array, c: Array) -> None:
    """RELU_BACKWARD grad_output, out, grad_x, which may be in place of grad_output."""
    g, y, into, zero = vector(table, c[1]), vector(table, c[2]), vector(table, c[3]), np.float32(0)
    if same_place(table, c[1], c[3]):
        for k in range(len(into)):
            into[k] = zero if y[k] <= zero else into[k]
    else:
        for k in range(len(g)):
            into[k] = zero if y[k] <= zero else g[k]


@compiled
def drop(table: Array, c: Array, claim: Array, numbers: Array, seeds: Array) -> None:
    """DROPOUT x, out; number of the seed; threshold; scale (number)."""
    claim[0] = 0
    dropout(claim, seeds[c[3] : c[3] + 1], c[4], numbers[c[5]], vector(table, c[1]), vector(table, c[2]))


@compiled
def zero_nan(table: Array, c: Array) -> None:
    """ZERO_NAN x, out."""
    x, out = vector(table, c[1]), vector(table, c[2])
    for k in range(len(x)):
        out[k] = np.float32(0) if np.isnan(x[k]) else x[k]


@compiled
def normalize_l2(table: Array, c: Array, claim: Array) -> None:
    """L2_NORMALIZE x, out, scale."""
    claim[0] = 0
    l2_normalize(claim, matrix(table, c[1]), EPSILON, matrix(table, c[2]), vector(table, c[3]))


@compiled
def normalize_l2_backward(table: Array, c: Array, claim: Array) -> None:
    """L2_NORMALIZE_BACKWARD grad_output, out, scale, grad_x."""
    claim[0] = 0
    unit, scale = matrix(table, c[2]), vector(table, c[3])
    l2_normalize_backward(claim, matrix(table, c[1]), unit, scale, EPSILON, matrix(table, c[4]))
