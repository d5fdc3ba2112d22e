"""Batch norm, activation and residual link in one.

Where the width is no multiple of 8, which is what a vector instruction takes, two or four rows are taken as one wide
row, so that less of it is left over; the numbers kept per column are repeated as often.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.exponential import exponential
from graphtrial.ops.kernels.lanes import LANES, inner_product

PLAIN, RELU, ELU = 0, 1, 2  # activations
BLOCK = 256  # rows whose sums are taken in the precision of x before they are added in double precision
WIDEST = 4


@compiled
def column_moments(x: Array, mean: Array, square: Array) -> None:
    """Fill mean and square, in double precision, with each column's mean and sum of squared deviations.

    The deviations of a block of rows are taken from the mean of the rows before it (at first, from the first row), and
    blocks are merged by the rule of Chan et al.
    """
    rows, width = x.shape
    repeat = _repeat(width)
    centre, sums = np.empty((1, repeat * width), x.dtype), np.empty((2, repeat * width), x.dtype)
    mean[:] = 0
    square[:] = 0
    for begin in range(0, rows, BLOCK):
        end = min(rows, begin + BLOCK)
        count = end - begin
        for k in range(width):
            centre[0, k] = mean[k] if begin else x[0, k]
        _spread_out(centre, width)
        sums[:] = 0
        whole = begin + count // repeat * repeat
        _add_deviations(_wide(x[begin:whole], repeat), centre[0], sums)
        _add_deviations(x[whole:end], centre[0], sums)
        for k in range(width):
            first, second = _column_sum(sums[0], k, width), _column_sum(sums[1], k, width)
            step = centre[0, k] + first / count - mean[k]
            mean[k] += step * count / end
            square[k] += max(second - first * first / count, 0.0) + step * step * begin * count / end


@compiled
def norm(
    x: Array,
    weight: Array,
    bias: Array,
    epsilon: float,
    activation: int,
    residual: Array,
    columns: Array,
    running: Array,
    out: Array,
) -> None:
    """out = activation of x normalised by column (+ residual, which may be a single row for all).

    columns [4, width] becomes scale, shift, mean and inverse deviation: out = activation of x * scale + shift; running
    [2, width] becomes mean and unbiased variance.
    """
    rows, width = x.shape
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
    repeat = _repeat(width)
    known = np.zeros((3, repeat * width), x.dtype)  # scale, shift, and the residual that all rows share
    known[:2, :width] = columns[:2]
    shared = residual is not None and len(residual) == 1
    if shared:
        known[2, :width] = residual[0]
    _spread_out(known, width)
    whole = rows // repeat * repeat
    if residual is None or shared:
        _apply_alone(activation, _wide(x[:whole], repeat), known, _wide(out[:whole], repeat))
        _apply_alone(activation, x[whole:], known, out[whole:])
    else:
        wide = _wide(x[:whole], repeat), _wide(residual[:whole], repeat), _wide(out[:whole], repeat)
        _apply(activation, wide[0], known, wide[1], wide[2])
        _apply(activation, x[whole:], known, residual[whole:], out[whole:])


@compiled
def norm_backward(
    gradient: Array,
    x: Array,
    activation: int,
    columns: Array,
    out: Array,
    weight_gradient: Array,
    bias_gradient: Array,
) -> None:
    """The gradients of x, weight and bias; columns as `norm` left them.

    With g the gradient before the activation: out = scale * (g - mean of g - (x - mean) * mean of g * (x - mean) /
    variance).
    """
    rows, width = x.shape
    repeat = _repeat(width)
    known = np.empty((4, repeat * width), x.dtype)  # scale, shift, and the mean, later a slope and a constant
    known[:3, :width] = columns[:3]
    _spread_out(known, width)
    block, sums = np.empty((2, repeat * width), x.dtype), np.zeros((2, width), np.float64)
    for begin in range(0, rows, BLOCK):
        end = min(rows, begin + BLOCK)
        whole = begin + (end - begin) // repeat * repeat
        block[:] = 0
        _add_passed(activation, _wide(gradient[begin:whole], repeat), _wide(x[begin:whole], repeat), known, block)
        _add_passed(activation, gradient[whole:end], x[whole:end], known, block)
        for k in range(width):
            sums[0, k] += _column_sum(block[0], k, width)
            sums[1, k] += _column_sum(block[1], k, width)
    for k in range(width):
        inverse = columns[3, k]
        weight_gradient[k] = sums[1, k] * inverse
        bias_gradient[k] = sums[0, k]
        slope = -columns[0, k] * sums[1, k] * inverse * inverse / rows
        known[2, k] = slope
        known[3, k] = -columns[0, k] * sums[0, k] / rows - slope * columns[2, k]
    _spread_out(known, width)
    whole = rows // repeat * repeat
    wide = _wide(gradient[:whole], repeat), _wide(x[:whole], repeat)
    _apply_backward(activation, wide[0], wide[1], known, _wide(out[:whole], repeat))
    _apply_backward(activation, gradient[whole:], x[whole:], known, out[whole:])


@compiled
def _repeat(width: int) -> int:
    repeat = 1
    while repeat < WIDEST and repeat * width % LANES:
        repeat *= 2
    return repeat


@compiled
def _wide(x: Array, repeat: int) -> Array:
    return x.reshape(len(x) // repeat, repeat * x.shape[1])


@compiled
def _spread_out(known: Array, width: int) -> None:
    for row in range(known.shape[0]):
        for k in range(width, known.shape[1]):
            known[row, k] = known[row, k - width]


@compiled
def _column_sum(wide: Array, k: int, width: int) -> float:
    total = 0.0
    for at in range(k, len(wide), width):
        total += wide[at]
    return total


@compiled
def _add_deviations(x: Array, centre: Array, sums: Array) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            away = x[i, k] - centre[k]
            sums[0, k] += away
            sums[1, k] += away * away


@compiled
def _apply_alone(activation: int, x: Array, known: Array, out: Array) -> None:
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                z = x[i, k] * known[0, k] + known[1, k]
                out[i, k] = (zero if z < zero else z) + known[2, k]
        elif activation == ELU:
            for k in range(x.shape[1]):
                z = x[i, k] * known[0, k] + known[1, k]
                out[i, k] = (z if z > zero else exponential(z) - one) + known[2, k]
        else:
            for k in range(x.shape[1]):
                out[i, k] = (x[i, k] * known[0, k] + known[1, k]) + known[2, k]


@compiled
def _apply(activation: int, x: Array, known: Array, residual: Array, out: Array) -> None:
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                z = x[i, k] * known[0, k] + known[1, k]
                out[i, k] = (zero if z < zero else z) + residual[i, k]
        elif activation == ELU:
            for k in range(x.shape[1]):
                z = x[i, k] * known[0, k] + known[1, k]
                out[i, k] = (z if z > zero else exponential(z) - one) + residual[i, k]
        else:
            for k in range(x.shape[1]):
                out[i, k] = (x[i, k] * known[0, k] + known[1, k]) + residual[i, k]


@compiled
def _add_passed(activation: int, gradient: Array, x: Array, known: Array, sums: Array) -> None:
    zero = x.dtype.type(0)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                value = x[i, k]
                passed = zero if value * known[0, k] + known[1, k] <= zero else gradient[i, k]
                sums[0, k] += passed
                sums[1, k] += passed * (value - known[2, k])
        elif activation == ELU:
            for k in range(x.shape[1]):
                value = x[i, k]
                z = value * known[0, k] + known[1, k]
                passed = gradient[i, k] * exponential(zero if z > zero else z)
                sums[0, k] += passed
                sums[1, k] += passed * (value - known[2, k])
        else:
            for k in range(x.shape[1]):
                passed = gradient[i, k]
                sums[0, k] += passed
                sums[1, k] += passed * (x[i, k] - known[2, k])


@compiled
def _apply_backward(activation: int, gradient: Array, x: Array, known: Array, out: Array) -> None:
    zero = x.dtype.type(0)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                value = x[i, k]
                passed = zero if value * known[0, k] + known[1, k] <= zero else gradient[i, k]
                out[i, k] = known[0, k] * passed + (known[2, k] * value + known[3, k])
        elif activation == ELU:
            for k in range(x.shape[1]):
                value = x[i, k]
                z = value * known[0, k] + known[1, k]
                passed = gradient[i, k] * exponential(zero if z > zero else z)
                out[i, k] = known[0, k] * passed + (known[2, k] * value + known[3, k])
        else:
            for k in range(x.shape[1]):
                out[i, k] = known[0, k] * gradient[i, k] + (known[2, k] * x[i, k] + known[3, k])


@compiled
def unit_rows(x: Array, least: float, out: Array, scale: Array) -> None:
    """out = x with each row divided by its length, or by `least` if that is more; scale [rows] is what it is times."""
    rows, width = x.shape
    groups = width // LANES
    flat = x.reshape(-1)
    for i in range(rows):
        total = inner_product(flat, i * width, flat, i * width, groups)
        for k in range(groups * LANES, width):
            total += x[i, k] * x[i, k]
        length = np.sqrt(total)
        factor = 1 / (least if length < least else length)
        scale[i] = factor
        for k in range(width):
            out[i, k] = x[i, k] * factor


@compiled
def unit_rows_backward(gradient: Array, unit: Array, scale: Array, least: float, out: Array) -> None:
    """out = scale * (gradient - unit * (gradient . unit)), of a row shorter than `least` scale * gradient."""
    rows, width = unit.shape
    groups = width // LANES
    of_gradient, of_unit = gradient.reshape(-1), unit.reshape(-1)
    for i in range(rows):
        total = inner_product(of_gradient, i * width, of_unit, i * width, groups)
        for k in range(groups * LANES, width):
            total += gradient[i, k] * unit[i, k]
        factor = scale[i]
        if factor * least >= 1:
            total *= 0
        for k in range(width):
            out[i, k] = factor * (gradient[i, k] - total * unit[i, k])
