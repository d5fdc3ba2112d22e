"""Instructions of PNA: products of towers, several aggregators in one pass, LeakyReLU (see `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.multi_aggregate import multi_aggregate, multi_aggregate_backward
from graphtrial.ops.kernels.small_matmul import column_sums
from graphtrial.ops.kernels.towers import tower_matmul, tower_matmul_weight
from graphtrial.ops.multi_aggregate import STD_EPS
from graphtrial.tape import codes
from graphtrial.tape.memory import integers, matrix, same_place, vector


@compiled
def _weights(table: Array, number: int, towers: int) -> Array:
    weight = matrix(table, number)
    return weight.reshape(towers, len(weight) // towers, weight.shape[1])


@compiled
def tower_linear(table: Array, c: Array, claim: Array) -> None:
    """TOWER_LINEAR x, weight, bias, out; towers."""
    claim[0] = 0
    x, weight, out = matrix(table, c[1]), _weights(table, c[2], c[5]), matrix(table, c[4])
    if c[3] < 0:
        tower_matmul(claim, x, weight, True, None, out)
    else:
        tower_matmul(claim, x, weight, True, vector(table, c[3]), out)


@compiled
def tower_linear_input(table: Array, c: Array, claim: Array) -> None:
    """TOWER_LINEAR_INPUT grad_output, weight, grad_x; towers."""
    claim[0] = 0
    tower_matmul(claim, matrix(table, c[1]), _weights(table, c[2], c[4]), False, None, matrix(table, c[3]))


@compiled
def tower_linear_weight(table: Array, c: Array, claim: Array) -> None:
    """TOWER_LINEAR_WEIGHT grad_output, x, grad_weight, grad_bias; towers."""
    claim[0] = 0
    g = matrix(table, c[1])
    tower_matmul_weight(claim, g, matrix(table, c[2]), _weights(table, c[3], c[5]))
    if c[4] >= 0:
        column_sums(g, vector(table, c[4]))


@compiled
def _stacked(table: Array, number: int, towers: int, width: int) -> Array:
    values = matrix(table, number)
    return values.reshape(len(values), towers, values.shape[1] // (towers * width), width)


@compiled
def _by_towers(table: Array, number: int, towers: int) -> Array:
    values = matrix(table, number)
    return values.reshape(len(values), towers, values.shape[1] // towers)


@compiled
def aggregate_all(table: Array, c: Array, claim: Array) -> None:
    """MULTI_AGGREGATE ptr, index, sent, own, edge, out; layout; towers."""
    claim[0] = 0
    ptr, index = integers(table, c[1]), integers(table, c[2])
    sent, own = _by_towers(table, c[3], c[8]), _by_towers(table, c[4], c[8])
    out = _stacked(table, c[6], c[8], sent.shape[2])
    if c[5] < 0:
        multi_aggregate(claim, ptr, index, sent, own, None, c[7], STD_EPS, out)
    else:
        multi_aggregate(claim, ptr, index, sent, own, matrix(table, c[5]), c[7], STD_EPS, out)


@compiled
def aggregate_all_backward(table: Array, c: Array, claim: Array) -> None:
    """MULTI_AGGREGATE_BACKWARD, operands as MULTI_AGGREGATE up to towers, then grad_output, grad_message, grad_own."""
    claim[0] = 0
    ptr, index = integers(table, c[1]), integers(table, c[2])
    sent, own = _by_towers(table, c[3], c[8]), _by_towers(table, c[4], c[8])
    width = sent.shape[2]
    out, g = _stacked(table, c[6], c[8], width), _stacked(table, c[9], c[8], width)
    message, of_own = matrix(table, c[10]), _by_towers(table, c[11], c[8])
    if c[5] < 0:
        multi_aggregate_backward(claim, ptr, index, sent, own, None, c[7], STD_EPS, out, g, message, of_own)
    else:
        edge = matrix(table, c[5])
        multi_aggregate_backward(claim, ptr, index, sent, own, edge, c[7], STD_EPS, out, g, message, of_own)


@compiled
def leaky_relu(table: Array, c: Array, numbers: Array) -> None:
    """LEAKY_RELU x, out; slope (number)."""
    x, out, slope = vector(table, c[1]), vector(table, c[2]), np.float32(numbers[c[3]])
    for k in range(len(x)):
        out[k] = x[k] if x[k] > 0 else x[k] * slope


@compiled
def leaky_relu_backward(table: Array, c: Array, numbers: Array) -> None:
    """LEAKY_RELU_BACKWARD slope (number); grad_output, out, grad_x, which may be in place of grad_output."""
    g, y, into, slope = vector(table, c[2]), vector(table, c[3]), vector(table, c[4]), np.float32(numbers[c[1]])
    if same_place(table, c[2], c[4]):
        for k in range(len(into)):
            into[k] = into[k] if y[k] > 0 else into[k] * slope
    else:
        for k in range(len(g)):
            into[k] = g[k] if y[k] > 0 else g[k] * slope


@compiled
def run_towers(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """Run one of these instructions."""
    code = c[0]
    if code == codes.TOWER_LINEAR:
        tower_linear(table, c, claim)
    elif code == codes.TOWER_LINEAR_INPUT:
        tower_linear_input(table, c, claim)
    elif code == codes.TOWER_LINEAR_WEIGHT:
        tower_linear_weight(table, c, claim)
    elif code == codes.MULTI_AGGREGATE:
        aggregate_all(table, c, claim)
    elif code == codes.MULTI_AGGREGATE_BACKWARD:
        aggregate_all_backward(table, c, claim)
    elif code == codes.LEAKY_RELU:
        leaky_relu(table, c, numbers)
    elif code == codes.LEAKY_RELU_BACKWARD:
        leaky_relu_backward(table, c, numbers)
