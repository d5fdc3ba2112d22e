"""Gaussian mixture convolution: weights of edges by the degrees of their ends, and sums over neighbours and kernels."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.dot_product import dot_product
from graphtrial.ops.kernels.exponential import exponentials, hyperbolic_tangents
from graphtrial.ops.kernels.mixture_row import MIXTURE_ROWS
from graphtrial.ops.kernels.vector import LANES

row1, row2, row3, row4, row5, row6, row7, row8 = MIXTURE_ROWS
MAX_VECTORS = len(MIXTURE_ROWS)
TILE = 64  # rows that a thread takes at a time
BLOCK = 256  # rows whose gradients are summed before they are added to those of other blocks


@compiled
def gaussian_weights(
    claim: Array,
    ptr: Array,
    index: Array,
    weight: Array,
    bias: Array,
    mean: Array,
    inverse: Array,
    u: Array,
    out: Array,
) -> None:
    """out[e, k] = exp(-|(u[e] - mean[k]) * inverse[k]|^2 / 2), u[e] = tanh(weight @ (r_j, r_i) + bias).

    r = (number of entries of the row + 1)^-1/2, of the column j and the row i of the entry e. weight: [2, 2], bias:
    [2], mean and inverse: [kernels, 2]; u: [entries, 2] and out: [entries, kernels] are set.
    """
    rows, kernels, half = len(ptr) - 1, len(mean), out.dtype.type(-0.5)
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        for i in range(first, last):
            own = _root(ptr, i, u)
            for e in range(ptr[i], ptr[i + 1]):
                other = _root(ptr, index[e], u)
                u[e, 0] = weight[0, 0] * other + weight[0, 1] * own + bias[0]
                u[e, 1] = weight[1, 0] * other + weight[1, 1] * own + bias[1]
        begin, end = ptr[first], ptr[last]
        hyperbolic_tangents(u[begin:end].reshape(-1))
        for e in range(begin, end):
            for k in range(kernels):
                a = (u[e, 0] - mean[k, 0]) * inverse[k, 0]
                b = (u[e, 1] - mean[k, 1]) * inverse[k, 1]
                out[e, k] = half * (a * a + b * b)
        exponentials(out[begin:end].reshape(-1))
        first = TILE * next_block(claim)


@compiled
def gaussian_gradients(
    claim: Array,
    ptr: Array,
    index: Array,
    mean: Array,
    inverse: Array,
    u: Array,
    gaussians: Array,
    grad_output: Array,
    sums: Array,
) -> None:
    """Gradients of the parameters per block of rows, sums: [blocks, 6 + 4 kernels] in float64.

    A row of sums has those of weight (4), bias (2), mean and inverse (2 kernels each).
    """
    rows, kernels = len(ptr) - 1, len(mean)
    number = next_block(claim)
    while number < len(sums):
        total = sums[number]
        total[:] = 0
        for i in range(number * BLOCK, min(rows, (number + 1) * BLOCK)):
            own = _root(ptr, i, u)
            for e in range(ptr[i], ptr[i + 1]):
                grad_a = grad_b = 0.0
                for k in range(kernels):
                    g = grad_output[e, k] * gaussians[e, k]
                    a, b = u[e, 0] - mean[k, 0], u[e, 1] - mean[k, 1]
                    slope_a, slope_b = g * a * inverse[k, 0], g * b * inverse[k, 1]
                    total[6 + 2 * k] += slope_a * inverse[k, 0]
                    total[7 + 2 * k] += slope_b * inverse[k, 1]
                    total[6 + 2 * (kernels + k)] -= slope_a * a
                    total[7 + 2 * (kernels + k)] -= slope_b * b
                    grad_a -= slope_a * inverse[k, 0]
                    grad_b -= slope_b * inverse[k, 1]
                grad_a *= 1 - u[e, 0] * u[e, 0]
                grad_b *= 1 - u[e, 1] * u[e, 1]
                other = _root(ptr, index[e], u)
                total[0] += grad_a * other
                total[1] += grad_a * own
                total[2] += grad_b * other
                total[3] += grad_b * own
                total[4] += grad_a
                total[5] += grad_b
        number = next_block(claim)


@compiled
def _root(ptr: Array, i: int, like: Array) -> float:
    root: float = like.dtype.type(1) / np.sqrt(like.dtype.type(ptr[i + 1] - ptr[i] + 1))
    return root


@compiled
def add_gaussian_blocks(sums: Array, weight: Array, bias: Array, mean: Array, inverse: Array) -> None:
    """Sum the output of `gaussian_gradients` over blocks, in their order; all outputs are flat."""
    at = 0
    for out in (weight, bias, mean, inverse):
        for k in range(len(out)):
            total = 0.0
            for number in range(len(sums)):
                total += sums[number, at]
            out[k] = total
            at += 1


@compiled
def mixture_sum(claim: Array, vectors: bool, ptr: Array, index: Array, weight: Array, z: Array, out: Array) -> None:
    """out[i] = sum over the entries e of row i and kernels k of weight[e, k] * z[index[e], k].

    weight: [entries, kernels], z: [columns, kernels, width], out: [rows, width].
    """
    rows, width = out.shape
    kernels = z.shape[1]
    x, into, w = z.reshape(-1), out.reshape(-1), weight.reshape(-1)
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            if width < LANES or not vectors:
                out[i] = 0
                for e in range(ptr[i], ptr[i + 1]):
                    for k in range(kernels):
                        for c in range(width):
                            out[i, c] += weight[e, k] * z[index[e], k, c]
            else:
                _row(into, i * width, width, x, kernels * width, width, index, None, w, 0, kernels, kernels, ptr, i)
        first = TILE * next_block(claim)


@compiled
def mixture_sum_input(
    claim: Array, vectors: bool, ptr: Array, index: Array, perm: Array, weight: Array, grad_output: Array, out: Array
) -> None:
    """Gradient of z: out[j, k] = sum over the entries e of row j of weight[perm[e], k] * grad_output[index[e]].

    ptr, index and perm are those of the transpose; grad_output: [rows, width], out: [columns, kernels, width].
    """
    rows, kernels, width = out.shape
    x, into, w = grad_output.reshape(-1), out.reshape(-1), weight.reshape(-1)
    first = TILE * next_block(claim)
    while first < rows:
        for j in range(first, min(rows, first + TILE)):
            for k in range(kernels):
                if width < LANES or not vectors:
                    out[j, k] = 0
                    for at in range(ptr[j], ptr[j + 1]):
                        for c in range(width):
                            out[j, k, c] += weight[perm[at], k] * grad_output[index[at], c]
                else:
                    place = (j * kernels + k) * width
                    _row(into, place, width, x, width, 0, index, perm, w, k, kernels, 1, ptr, j)
        first = TILE * next_block(claim)


@compiled
def mixture_sum_weight(claim: Array, ptr: Array, index: Array, grad_output: Array, z: Array, out: Array) -> None:
    """Gradient of the weights: out[e, k] = grad_output[i] . z[index[e], k] for the entries e of each row i."""
    rows, kernels = len(ptr) - 1, z.shape[1]
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for e in range(ptr[i], ptr[i + 1]):
                for k in range(kernels):
                    out[e, k] = dot_product(grad_output[i], z[index[e], k])
        first = TILE * next_block(claim)


@compiled
def _row(
    out: Array,
    at: int,
    width: int,
    x: Array,
    stride: int,
    step: int,
    index: Array,
    perm: Array,
    weight: Array,
    offset: int,
    heads: int,
    count: int,
    ptr: Array,
    i: int,
) -> None:
    """One row of `width` columns by `MIXTURE_ROWS`; the last vectors of columns may overlap those before."""
    first, last = ptr[i], ptr[i + 1]
    column = 0
    while column < width:
        groups = min(MAX_VECTORS, (width - column + LANES - 1) // LANES, width // LANES)
        c = min(column, width - groups * LANES)
        column = c + groups * LANES
        if groups == 8:
            row8(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        elif groups == 7:
            row7(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        elif groups == 6:
            row6(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        elif groups == 5:
            row5(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        elif groups == 4:
            row4(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        elif groups == 3:
            row3(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        elif groups == 2:
            row2(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
        else:
            row1(out, at + c, x, c, stride, step, index, perm, weight, offset, heads, count, first, last)
