"""Batch norm, ReLU and residual link in one."""

from __future__ import annotations

import numpy as np

from graphtrial.compiler import Array, compiled

BLOCK = 64  # rows whose statistics are taken together, while they are in the cache


@compiled
def column_moments(x: Array, mean: Array, square: Array) -> None:
    """Fill mean and square, in double precision, with each column's mean and sum of squared deviations.

    Blocks of rows are summed up in the precision of x while they are in the cache, and merged by the rule of Chan et
    al.
    """
    rows, width = x.shape
    block = np.empty((2, width), x.dtype)
    mean[:] = 0
    square[:] = 0
    for begin in range(0, rows, BLOCK):
        end = min(rows, begin + BLOCK)
        count = end - begin
        block[:] = 0
        for i in range(begin, end):
            for k in range(width):
                block[0, k] += x[i, k]
        for k in range(width):
            block[0, k] /= count
        for i in range(begin, end):
            for k in range(width):
                away = x[i, k] - block[0, k]
                block[1, k] += away * away
        for k in range(width):
            step = block[0, k] - mean[k]
            mean[k] += step * count / end
            square[k] += block[1, k] + step * step * begin * count / end


@compiled
def norm_relu(
    x: Array, weight: Array, bias: Array, epsilon: float, residual: Array, columns: Array, running: Array, out: Array
) -> None:
    """out = ReLU of x normalised by column (+ residual).

    columns [4, width] becomes scale, shift, mean and inverse deviation: out = max(x * scale + shift, 0); running [2,
    width] becomes mean and unbiased variance.
    """
    rows, width = x.shape
    zero = x.dtype.type(0)
    moments = np.empty((2, width), np.float64)
    column_moments(x, moments[0], moments[1])
    for k in range(width):
        spread = moments[1, k] / rows
        inverse = 1 / np.sqrt(spread + epsilon)
        columns[0, k] = weight[k] * inverse
        columns[1, k] = bias[k] - moments[0, k] * weight[k] * inverse
        columns[2, k] = moments[0, k]
        columns[3, k] = inverse
        running[0, k] = moments[0, k]
        running[1, k] = moments[1, k] / (rows - 1)
    for i in range(rows):
        for k in range(width):
            z = x[i, k] * columns[0, k] + columns[1, k]
            z = z if z > zero else zero
            out[i, k] = z if residual is None else z + residual[i, k]


@compiled
def norm_relu_backward(
    gradient: Array,
    x: Array,
    columns: Array,
    out: Array,
    weight_gradient: Array,
    bias_gradient: Array,
) -> None:
    """The gradients of x, weight and bias; columns as `norm_relu` left them.

    With g the gradient behind the ReLU: out = scale * (g - mean of g - (x - mean) * mean of g * (x - mean) / variance).
    """
    rows, width = x.shape
    zero = x.dtype.type(0)
    block, sums = np.empty((2, width), x.dtype), np.zeros((2, width), np.float64)
    for begin in range(0, rows, BLOCK):
        block[:] = 0
        for i in range(begin, min(rows, begin + BLOCK)):
            for k in range(width):
                value = x[i, k]
                passed = gradient[i, k] if value * columns[0, k] + columns[1, k] > zero else zero
                block[0, k] += passed
                block[1, k] += passed * (value - columns[2, k])
        for k in range(width):
            sums[0, k] += block[0, k]
            sums[1, k] += block[1, k]
    known = np.empty((5, width), x.dtype)  # scale, shift, mean, and what is taken off: a constant and a slope
    known[:3] = columns[:3]
    for k in range(width):
        inverse = columns[3, k]
        weight_gradient[k] = sums[1, k] * inverse
        bias_gradient[k] = sums[0, k]
        known[3, k] = sums[0, k] / rows
        known[4, k] = sums[1, k] * inverse * inverse / rows
    for i in range(rows):
        for k in range(width):
            value = x[i, k]
            passed = gradient[i, k] if value * known[0, k] + known[1, k] > zero else zero
            out[i, k] = known[0, k] * (passed - known[3, k] - known[4, k] * (value - known[2, k]))
