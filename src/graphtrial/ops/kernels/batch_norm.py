"""Batch normalisation, activation and skip connection.

Where the width is not a multiple of the 8 SIMD lanes, two or four rows are viewed as one wide row, so that fewer lanes
are idle; per-column coefficients are repeated accordingly. Sums over rows are taken for blocks of `BLOCK` rows, in the
precision of x, and then over blocks, in their order and in float64.
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.batch_norm_rows import (
    add_gradient_sums,
    normalize_rows,
    normalize_rows_add,
    normalize_rows_backward,
)
from graphtrial.ops.kernels.vector import LANES

BLOCK = 256  # rows that a thread takes at a time
MAX_REPEAT = 4


@compiled
def column_moments(claim: Array, x: Array, centre: Array, sums: Array) -> None:
    """Sum the deviations from `centre` and their squares over each block of rows; sums: [blocks, 2, width], float64.

    centre [width] is set to the mean of the first block, so that little is lost to cancellation.
    """
    rows, width = x.shape
    repeat = _repeat(width)
    shift, block = np.zeros((1, repeat * width), x.dtype), np.empty((2, repeat * width), x.dtype)
    some = min(rows, BLOCK)
    for i in range(some):
        for k in range(width):
            shift[0, k] += x[i, k]
    for k in range(width):
        shift[0, k] /= some
    _tile_columns(shift, width)
    number = next_block(claim)
    while number * BLOCK < rows:
        begin = number * BLOCK
        end = min(rows, begin + BLOCK)
        whole = begin + (end - begin) // repeat * repeat
        block[:] = 0
        _add_deviations(_wide(x[begin:whole], repeat), shift[0], block)
        _add_deviations(x[whole:end], shift[0], block)
        for k in range(width):
            sums[number, 0, k] = _column_sum(block[0], k, width)
            sums[number, 1, k] = _column_sum(block[1], k, width)
        if number == 0:
            for k in range(width):
                centre[k] = shift[0, k]
        number = next_block(claim)


@compiled
def batch_norm_coefficients(
    rows: int,
    centre: Array,
    sums: Array,
    weight: Array,
    bias: Array,
    epsilon: float,
    columns: Array,
    statistics: Array,
) -> None:
    """Merge the outputs of `column_moments` by the parallel algorithm of Chan et al. 1979.

    columns [4, width] is set to scale, shift, mean and 1 / standard deviation, statistics [2, width] to mean and
    unbiased variance.
    """
    for k in range(len(weight)):
        mean = square = 0.0
        for number in range(len(sums)):
            begin = number * BLOCK
            end = min(rows, begin + BLOCK)
            count = end - begin
            first, second = sums[number, 0, k], sums[number, 1, k]
            step = centre[k] + first / count - mean
            mean += step * count / end
            square += max(second - first * first / count, 0.0) + step * step * begin * count / end
        inverse = 1 / np.sqrt(square / rows + epsilon)
        columns[0, k] = weight[k] * inverse
        columns[1, k] = bias[k] - mean * weight[k] * inverse
        columns[2, k] = mean
        columns[3, k] = inverse
        statistics[0, k] = mean
        statistics[1, k] = square / (rows - 1)


@compiled
def batch_norm(claim: Array, x: Array, activation: int, residual: Array, columns: Array, out: Array) -> None:
    """out = activation(x * scale + shift) + residual; residual: None, [rows, width] or [1, width]."""
    rows, width = x.shape
    repeat = _repeat(width)
    coeffs = np.zeros((3, repeat * width), x.dtype)  # scale, shift, shared residual
    coeffs[:2, :width] = columns[:2]
    shared = residual is not None and len(residual) == 1
    if shared:
        coeffs[2, :width] = residual[0]
    _tile_columns(coeffs, width)
    begin = BLOCK * next_block(claim)
    while begin < rows:
        end = min(rows, begin + BLOCK)
        whole = begin + (end - begin) // repeat * repeat
        if residual is None or shared:
            normalize_rows(activation, _wide(x[begin:whole], repeat), coeffs, _wide(out[begin:whole], repeat))
            normalize_rows(activation, x[whole:end], coeffs, out[whole:end])
        else:
            wide = _wide(x[begin:whole], repeat), _wide(residual[begin:whole], repeat), _wide(out[begin:whole], repeat)
            normalize_rows_add(activation, wide[0], coeffs, wide[1], wide[2])
            normalize_rows_add(activation, x[whole:end], coeffs, residual[whole:end], out[whole:end])
        begin = BLOCK * next_block(claim)


@compiled
def gradient_sums(claim: Array, grad_output: Array, x: Array, activation: int, columns: Array, sums: Array) -> None:
    """Sum g and g * (x - mean) over each block of rows, with g the gradient before the activation.

    sums: [blocks, 2, width], float64; columns as set by `batch_norm_coefficients`.
    """
    rows, width = x.shape
    repeat = _repeat(width)
    coeffs, block = np.empty((3, repeat * width), x.dtype), np.empty((2, repeat * width), x.dtype)
    coeffs[:, :width] = columns[:3]
    _tile_columns(coeffs, width)
    number = next_block(claim)
    while number * BLOCK < rows:
        begin = number * BLOCK
        end = min(rows, begin + BLOCK)
        whole = begin + (end - begin) // repeat * repeat
        block[:] = 0
        wide = _wide(grad_output[begin:whole], repeat), _wide(x[begin:whole], repeat)
        add_gradient_sums(activation, wide[0], wide[1], coeffs, block)
        add_gradient_sums(activation, grad_output[whole:end], x[whole:end], coeffs, block)
        for k in range(width):
            sums[number, 0, k] = _column_sum(block[0], k, width)
            sums[number, 1, k] = _column_sum(block[1], k, width)
        number = next_block(claim)


@compiled
def gradient_coefficients(
    rows: int, sums: Array, columns: Array, coeffs: Array, grad_weight: Array, grad_bias: Array
) -> None:
    """Set the gradients of weight and bias, and coeffs [4, width] to scale, shift, slope and constant."""
    for k in range(len(grad_weight)):
        first = second = 0.0
        for number in range(len(sums)):
            first += sums[number, 0, k]
            second += sums[number, 1, k]
        inverse = columns[3, k]
        grad_weight[k] = second * inverse
        grad_bias[k] = first
        slope = -columns[0, k] * second * inverse * inverse / rows
        coeffs[0, k] = columns[0, k]
        coeffs[1, k] = columns[1, k]
        coeffs[2, k] = slope
        coeffs[3, k] = -columns[0, k] * first / rows - slope * columns[2, k]


@compiled
def batch_norm_backward(
    claim: Array, grad_output: Array, x: Array, activation: int, coefficients: Array, out: Array
) -> None:
    """Gradient of x, with g the gradient before the activation.

    out = scale * (g - mean(g) - (x - mean) * mean(g * (x - mean)) / variance), by `gradient_coefficients`.
    """
    rows, width = x.shape
    repeat = _repeat(width)
    coeffs = np.empty((4, repeat * width), x.dtype)
    coeffs[:, :width] = coefficients
    _tile_columns(coeffs, width)
    begin = BLOCK * next_block(claim)
    while begin < rows:
        end = min(rows, begin + BLOCK)
        whole = begin + (end - begin) // repeat * repeat
        wide = _wide(grad_output[begin:whole], repeat), _wide(x[begin:whole], repeat)
        normalize_rows_backward(activation, wide[0], wide[1], coeffs, _wide(out[begin:whole], repeat))
        normalize_rows_backward(activation, grad_output[whole:end], x[whole:end], coeffs, out[whole:end])
        begin = BLOCK * next_block(claim)


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
            centred = x[i, k] - centre[k]
            sums[0, k] += centred
            sums[1, k] += centred * centred
