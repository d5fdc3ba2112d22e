"""Instructions that join, split and sum matrices, and products with joined ones (see `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.joined_matmul import (
    joined_matmul,
    joined_matmul_input,
    joined_matmul_weight,
    started_matmul,
)
from graphtrial.ops.kernels.small_matmul import (
    add_blocks,
    column_sums,
    small_matmul,
    small_matmul_transposed,
    total_product,
)
from graphtrial.ops.linear import MIN_SIZE, SUM_BLOCKS, SUM_ROWS
from graphtrial.tape.memory import integers, matrix, vector


@compiled
def copy(table: Array, c: Array) -> None:
    """COPY x, out."""
    vector(table, c[2])[:] = vector(table, c[1])


@compiled
def sum_rows(table: Array, c: Array) -> None:
    """COLUMN_SUMS x, out."""
    column_sums(matrix(table, c[1]), vector(table, c[2]))


@compiled
def outer(table: Array, c: Array) -> None:
    """OUTER a, b, out."""
    a, b, out = vector(table, c[1]), vector(table, c[2]), matrix(table, c[3])
    for r in range(len(a)):
        for k in range(len(b)):
            out[r, k] = a[r] * b[k]


@compiled
def sum_product(table: Array, c: Array) -> None:
    """TOTAL_PRODUCT a, b, out."""
    total_product(matrix(table, c[1]), matrix(table, c[2]), vector(table, c[3]))


@compiled
def join_columns(table: Array, c: Array) -> None:
    """JOIN_COLUMNS a, b, out: out = [a, b]."""
    _join(matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3]))


@compiled
def _join(a: Array, b: Array, out: Array) -> None:
    width = a.shape[1]
    for r in range(len(out)):
        for k in range(width):
            out[r, k] = a[r, k]
        for k in range(b.shape[1]):
            out[r, width + k] = b[r, k]


@compiled
def split_columns(table: Array, c: Array) -> None:
    """SPLIT_COLUMNS x, out; first column: out = the columns of x from there on."""
    x, out, first = matrix(table, c[1]), matrix(table, c[2]), c[3]
    for r in range(len(out)):
        for k in range(out.shape[1]):
            out[r, k] = x[r, first + k]


@compiled
def join_rows(table: Array, c: Array) -> None:
    """JOIN_ROWS a, b, out: the rows of a, then those of b."""
    a, b, out = vector(table, c[1]), vector(table, c[2]), vector(table, c[3])
    out[: len(a)] = a
    out[len(a) :] = b


@compiled
def split_rows(table: Array, c: Array) -> None:
    """SPLIT_ROWS x, a, b: undo JOIN_ROWS."""
    x, a, b = vector(table, c[1]), vector(table, c[2]), vector(table, c[3])
    a[:] = x[: len(a)]
    b[:] = x[len(a) :]


@compiled
def _is_small(weight: Array, rows: int) -> bool:
    small: bool = min(rows, weight.shape[0], weight.shape[1]) < MIN_SIZE
    return small


@compiled
def _joined(a: Array, b: Array) -> Array:
    out = np.empty((len(a), a.shape[1] + b.shape[1]), np.float32)
    _join(a, b, out)
    return out


@compiled
def joined_linear(table: Array, c: Array, claim: Array) -> None:
    """JOINED_LINEAR a, b, weight, bias, out: out = [a, b] @ weight.T + bias."""
    a, b, weight, out = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3]), matrix(table, c[5])
    claim[0] = 0
    if not _is_small(weight, len(a)):
        bias = vector(table, c[4]) if c[4] >= 0 else np.zeros(out.shape[1], np.float32)
        joined_matmul(claim, a, b, weight, bias, out)
    elif c[4] >= 0:
        small_matmul(_joined(a, b), weight, True, vector(table, c[4]), out)
    else:
        small_matmul(_joined(a, b), weight, True, None, out)


@compiled
def started_linear(table: Array, c: Array, claim: Array) -> None:
    """STARTED_LINEAR index, start, b, weight, out: the second half of JOINED_LINEAR, from the rows start[index] on."""
    index, start, b = integers(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
    claim[0] = 0
    started_matmul(claim, index, start, b, matrix(table, c[4]), matrix(table, c[5]))


@compiled
def joined_linear_input(table: Array, c: Array, claim: Array) -> None:
    """JOINED_LINEAR_INPUT grad_output, weight, grad_a, grad_b."""
    g, weight, a, b = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3]), matrix(table, c[4])
    claim[0] = 0
    if _is_small(weight, len(a)):
        both, width = np.empty((len(a), weight.shape[1]), np.float32), a.shape[1]
        small_matmul(g, weight, False, None, both)
        a[:] = both[:, :width]
        b[:] = both[:, width:]
    else:
        joined_matmul_input(claim, g, weight, a, b)


@compiled
def joined_linear_weight(table: Array, c: Array, claim: Array) -> None:
    """JOINED_LINEAR_WEIGHT grad_output, a, b, grad_weight, grad_bias."""
    g, a, b, out = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3]), matrix(table, c[4])
    left, right = out.shape
    blocks = max(1, min(SUM_BLOCKS, len(g) // SUM_ROWS))
    sums = np.empty((blocks, left), np.float32)
    claim[0] = 0
    if _is_small(out, len(g)):
        small_matmul_transposed(g, _joined(a, b), out, sums[0])
        blocks = 1
    else:
        parts = np.empty((blocks, left, right), np.float32)
        joined_matmul_weight(claim, g, a, b, parts, sums)
        add_blocks(parts.reshape(blocks, left * right), out.reshape(-1))
    if c[5] >= 0:
        add_blocks(sums[:blocks], vector(table, c[5]))
