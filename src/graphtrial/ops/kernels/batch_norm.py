"""Batch normalisation, activation and skip connection.

Where the width is no multiple of the 8 SIMD lanes, two or four rows are viewed as one wide row, so that fewer lanes are
idle; per-column coefficients are repeated accordingly.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.batch_norm_rows import (
    add_gradient_sums,
    normalize_rows,
    normalize_rows_add,
    normalize_rows_backward,
)
from graphtrial.ops.kernels.simd import LANES

BLOCK = 256  # rows summed in the precision of x before the sum is added to a float64 total
MAX_REPEAT = 4


@compiled
def column_moments(x: Array, mean: Array, square: Array) -> None:
    """Compute the mean and the sum of squared deviations of each column, in float64.

    Deviations within a block are from the mean of the rows before it (in the first block, from the first row), and
    blocks are merged by the parallel algorithm of Chan et al. 1979.
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
        _tile_columns(centre, width)
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
def batch_norm(
    x: Array,
    weight: Array,
    bias: Array,
    epsilon: float,
    activation: int,
    residual: Array,
    columns: Array,
    statistics: Array,
    out: Array,
) -> None:
    """out = activation(x * scale + shift) + residual; residual: None, [rows, width] or [1, width].

    columns [4, width] is set to scale, shift, mean and 1 / standard deviation, statistics [2, width] to mean and
    unbiased variance.
    """
    rows, width = x.shape
    moments = np.empty((2, width), np.float64)
    column_moments(x, moments[0], moments[1])
    for k in range(width):
        variance = moments[1, k] / rows
        inverse = 1 / np.sqrt(variance + epsilon)
        columns[0, k] = weight[k] * inverse
        columns[1, k] = bias[k] - moments[0, k] * weight[k] * inverse
        columns[2, k] = moments[0, k]
        columns[3, k] = inverse
        statistics[0, k] = moments[0, k]
        statistics[1, k] = moments[1, k] / (rows - 1)
    repeat = _repeat(width)
    coeffs = np.zeros((3, repeat * width), x.dtype)  # scale, shift, shared residual
    coeffs[:2, :width] = columns[:2]
    shared = residual is not None and len(residual) == 1
    if shared:
        coeffs[2, :width] = residual[0]
    _tile_columns(coeffs, width)
    whole = rows // repeat * repeat
    if residual is None or shared:
        normalize_rows(activation, _wide(x[:whole], repeat), coeffs, _wide(out[:whole], repeat))
        normalize_rows(activation, x[whole:], coeffs, out[whole:])
    else:
        wide = _wide(x[:whole], repeat), _wide(residual[:whole], repeat), _wide(out[:whole], repeat)
        normalize_rows_add(activation, wide[0], coeffs, wide[1], wide[2])
        normalize_rows_add(activation, x[whole:], coeffs, residual[whole:], out[whole:])


@compiled
def batch_norm_backward(
    grad_output: Array,
    x: Array,
    activation: int,
    columns: Array,
    out: Array,
    grad_weight: Array,
    grad_bias: Array,
) -> None:
    """Gradients of x (out), weight and bias; columns as set by `batch_norm`.

    With g the gradient before the activation: out = scale * (g - mean(g) - (x - mean) * mean(g * (x - mean)) /
    variance).
    """
    rows, width = x.shape
    repeat = _repeat(width)
    coeffs = np.empty((4, repeat * width), x.dtype)  # scale, shift, mean; later slope and constant
    coeffs[:3, :width] = columns[:3]
    _tile_columns(coeffs, width)
    block, sums = np.empty((2, repeat * width), x.dtype), np.zeros((2, width), np.float64)
    for begin in range(0, rows, BLOCK):
        end = min(rows, begin + BLOCK)
        whole = begin + (end - begin) // repeat * repeat
        block[:] = 0
        add_gradient_sums(
            activation, _wide(grad_output[begin:whole], repeat), _wide(x[begin:whole], repeat), coeffs, block
        )
        add_gradient_sums(activation, grad_output[whole:end], x[whole:end], coeffs, block)
        for k in range(width):
            sums[0, k] += _column_sum(block[0], k, width)
            sums[1, k] += _column_sum(block[1], k, width)
    for k in range(width):
        inverse = columns[3, k]
        grad_weight[k] = sums[1, k] * inverse
        grad_bias[k] = sums[0, k]
        slope = -columns[0, k] * sums[1, k] * inverse * inverse / rows
        coeffs[2, k] = slope
        coeffs[3, k] = -columns[0, k] * sums[0, k] / rows - slope * columns[2, k]
    _tile_columns(coeffs, width)
    whole = rows // repeat * repeat
    wide = _wide(grad_output[:whole], repeat), _wide(x[:whole], repeat)
    normalize_rows_backward(activation, wide[0], wide[1], coeffs, _wide(out[:whole], repeat))
    normalize_rows_backward(activation, grad_output[whole:], x[whole:], coeffs, out[whole:])


@compiled
def _repeat(width: int) -> int:
    repeat = 1
    while repeat < MAX_REPEAT and repeat * width % LANES:
        repeat *= 2
    return repeat


@compiled
def _wide(x: Array, repeat: int) -> Array:
    return x.reshape(len(x) // repeat, repeat * x.shape[1])


@compiled
def _tile_columns(coeffs: Array, width: int) -> None:
    for row in range(coeffs.shape[0]):
        for k in range(width, coeffs.shape[1]):
            coeffs[row, k] = coeffs[row, k - width]


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
            deviation = x[i, k] - centre[k]
            sums[0, k] += deviation
            sums[1, k] += deviation * deviation
