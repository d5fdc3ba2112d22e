"""Instructions of linear layers: matrix products with epilogues, and their gradients (arguments as in `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.matmul import matmul_transposed, matmul_with_epilogue
from graphtrial.ops.kernels.matmul_tile import Add, Relu
from graphtrial.ops.kernels.small_matmul import add_blocks, small_matmul, small_matmul_transposed
from graphtrial.ops.linear import MIN_SIZE, SUM_BLOCKS, SUM_ROWS
from graphtrial.tape import codes
from graphtrial.tape.memory import matrix, read_ahead, vector


@compiled
def product(
    claim: Array, x: Array, weight: Array, transposed: bool, bias: Array, out: Array, epilogue: Relu | Add | None
) -> bool:
    """out = x @ weight (+ bias), or x @ weight.T (+ bias), as `ops.linear.matmul_into`.

    Returns whether it has register tiles, and with them its epilogue.
    """
    claim[0] = 0
    if min(len(x), weight.shape[0], weight.shape[1]) >= MIN_SIZE:
        matmul_with_epilogue(claim, x, weight, transposed, bias, out, epilogue)
        return True
    small_matmul(x, weight, transposed, bias, out)
    return False


@compiled
def product_and_sum(
    claim: Array, x: Array, weight: Array, transposed: bool, bias: Array, out: Array, other: Array
) -> None:
    """out = x @ weight (+ bias) + other, or x @ weight.T (+ bias) + other; other: flat."""
    if not product(claim, x, weight, transposed, bias, out, Add(other)):
        flat = out.reshape(-1)
        for k in range(len(flat)):
            flat[k] += other[k]


@compiled
def linear(table: Array, c: Array, claim: Array) -> None:
    """LINEAR x, weight, bias, out; epilogue: RELU, or ADD and an operand."""
    x, weight, out = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[4])
    if c[3] < 0:
        product(claim, x, weight, True, None, out, None)
        return
    bias, flat, zero = vector(table, c[3]), vector(table, c[4]), np.float32(0)
    if c[5] == codes.ADD:
        product_and_sum(claim, x, weight, True, bias, out, vector(table, c[6]))
    elif c[5] != codes.RELU:
        product(claim, x, weight, True, bias, out, None)
    elif not product(claim, x, weight, True, bias, out, Relu(flat)):
        for k in range(len(flat)):
            flat[k] = zero if flat[k] < zero else flat[k]


@compiled
def linear_input(table: Array, c: Array, claim: Array) -> None:
    """LINEAR_INPUT grad_output, weight, grad_x; epilogue: ADD and an operand."""
    g, weight, out = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
    if c[4] == codes.ADD:
        product_and_sum(claim, g, weight, False, None, out, vector(table, c[5]))
    else:
        product(claim, g, weight, False, None, out, None)


@compiled
def linear_weight(table: Array, c: Array, claim: Array) -> None:
    """LINEAR_WEIGHT grad_output, x, grad_weight, grad_bias."""
    g, x, out = matrix(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
    left, right = out.shape
    read_ahead(table, c[2], claim)
    blocks = max(1, min(SUM_BLOCKS, len(g) // SUM_ROWS))
    sums = np.empty((blocks, left), np.float32)
    if min(len(g), left, right) < MIN_SIZE:
        small_matmul_transposed(g, x, out, sums[0])
        if c[4] >= 0:
            vector(table, c[4])[:] = sums[0]
        return
    claim[0] = 0
    if blocks == 1:
        matmul_transposed(claim, g, x, out.reshape(1, left, right), sums)
    else:
        parts = np.empty((blocks, left, right), np.float32)
        matmul_transposed(claim, g, x, parts, sums)
        add_blocks(parts.reshape(blocks, left * right), out.reshape(-1))
    if c[4] >= 0:
        add_blocks(sums, vector(table, c[4]))
