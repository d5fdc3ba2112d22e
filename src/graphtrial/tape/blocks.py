"""Instructions that join, split and sum matrices (see `dense`)."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.small_matmul import column_sums, total_product
from graphtrial.tape.memory import matrix, vector


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
    a, b, out = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
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
