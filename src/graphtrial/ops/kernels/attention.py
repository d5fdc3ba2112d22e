"""Softmax over the rows of a sparse matrix, and the fused attention of GAT."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.exponential import exponential, exponentials
from graphtrial.ops.kernels.simd import (
    LANES,
    add,
    dot,
    leaky_relu,
    leaky_relu_backward,
    maximum,
    multiply,
    multiply_add,
    subtract,
)

BLOCK = 256  # rows summed in the input's precision before the sum is added to a float64 total


@compiled
def softmax(ptr: Array, scores: Array, out: Array) -> None:
    """out = softmax of scores [entries, heads] over the entries of each row, per head."""
    heads = scores.shape[1]
    for i in range(len(ptr) - 1):
        begin, end = ptr[i], ptr[i + 1]
        for h in range(heads):
            if begin == end:
                continue
            top = scores[begin, h]
            for e in range(begin + 1, end):
                top = max(top, scores[e, h])
            total = top * 0
            for e in range(begin, end):
                out[e, h] = exponential(scores[e, h] - top)
                total += out[e, h]
            for e in range(begin, end):
                out[e, h] /= total


@compiled
def softmax_backward(ptr: Array, grad_output: Array, probability: Array, out: Array) -> None:
    """out = probability * (grad_output - sum over the row of grad_output * probability)."""
    heads = grad_output.shape[1]
    for i in range(len(ptr) - 1):
        for h in range(heads):
            total = grad_output.dtype.type(0)
            for e in range(ptr[i], ptr[i + 1]):
                total += grad_output[e, h] * probability[e, h]
            for e in range(ptr[i], ptr[i + 1]):
                out[e, h] = probability[e, h] * (grad_output[e, h] - total)


@compiled
def heads_to_lanes(
    z: Array, source: Array, target: Array, lanes: Array, source_score: Array, target_score: Array
) -> None:
    """Transpose z [rows, heads, width] of at most eight heads to lanes [rows, width, 8], and compute the node scores.

    source, target: [heads, width]; lanes: flat [rows, width, 8], padded with 0; source_score = source . z and
    target_score = target . z: flat [rows, 8].
    """
    rows, heads, width = z.shape
    size = LANES * width
    weights = np.zeros(2 * size, z.dtype)
    for h in range(heads):
        for k in range(width):
            weights[LANES * k + h] = source[h, k]
            weights[size + LANES * k + h] = target[h, k]
    if heads < LANES:
        lanes[:] = 0
    for i in range(rows):
        for k in range(width):
            for h in range(heads):
                lanes[size * i + LANES * k + h] = z[i, h, k]
        dot(source_score, LANES * i, lanes, size * i, weights, 0, width)
        dot(target_score, LANES * i, lanes, size * i, weights, size, width)


@compiled
def gat_attention(
    ptr: Array, index: Array, lanes: Array, source: Array, target: Array, slope: float, alpha: Array, out: Array
) -> None:
    """out [rows, heads, width] = sum over the entries e of each row of alpha[e] * lanes[index[e]].

    alpha, flat [entries, 8], is set to the softmax over each row i of leaky_relu(source[index[e]] + target[i]).
    """
    rows, heads, width = out.shape
    size = LANES * width
    row, steps = np.empty(size, lanes.dtype), np.full(LANES, slope, lanes.dtype)
    top, total = np.empty(LANES, lanes.dtype), np.empty(LANES, lanes.dtype)
    for i in range(rows):
        begin, end = ptr[i], ptr[i + 1]
        top[:] = -np.inf
        total[:] = 0
        row[:] = 0
        for e in range(begin, end):
            leaky_relu(alpha, LANES * e, source, LANES * index[e], target, LANES * i, steps)
            maximum(top, 0, alpha, LANES * e)
        for e in range(begin, end):
            subtract(alpha, LANES * e, top, 0)
        exponentials(alpha[LANES * begin : LANES * end])
        for e in range(begin, end):
            add(total, 0, alpha, LANES * e)
        for h in range(LANES):
            total[h] = 1 / total[h]
        for e in range(begin, end):
            multiply(alpha, LANES * e, total, 0)
            multiply_add(row, 0, alpha, LANES * e, lanes, size * index[e], width)
        for h in range(heads):
            for k in range(width):
                out[i, h, k] = row[LANES * k + h]


@compiled
def gat_attention_backward(
    ptr: Array,
    index: Array,
    grad_output: Array,
    lanes: Array,
    source: Array,
    target: Array,
    slope: float,
    alpha: Array,
    weights: Array,
    longest: int,
    out: Array,
    grad_weight: Array,
) -> None:
    """Gradients of z [rows, heads, width] (out) and of the attention vectors, weights [2, heads, width] (grad_weight).

    lanes, source and target are outputs of `heads_to_lanes`, alpha of `gat_attention`; `longest` is the largest number
    of entries of a row.
    """
    rows, heads, width = grad_output.shape
    size = LANES * width
    steps, total, row = np.full(LANES, slope, lanes.dtype), np.empty(LANES, lanes.dtype), np.zeros(size, lanes.dtype)
    grad_score = np.empty(LANES * longest, lanes.dtype)
    grad_lanes = np.zeros(lanes.size, lanes.dtype)
    grad_source, grad_target = np.zeros(source.size, lanes.dtype), np.zeros(target.size, lanes.dtype)
    for i in range(rows):
        begin, end = ptr[i], ptr[i + 1]
        for h in range(heads):
            for k in range(width):
                row[LANES * k + h] = grad_output[i, h, k]
        total[:] = 0
        for e in range(begin, end):
            at = LANES * (e - begin)
            dot(grad_score, at, row, 0, lanes, size * index[e], width)
            multiply_add(total, 0, alpha, LANES * e, grad_score, at, 1)
        for e in range(begin, end):
            at, j = LANES * (e - begin), index[e]
            subtract(grad_score, at, total, 0)
            multiply(grad_score, at, alpha, LANES * e)
            leaky_relu_backward(grad_score, at, source, LANES * j, target, LANES * i, steps)
            add(grad_target, LANES * i, grad_score, at)
            add(grad_source, LANES * j, grad_score, at)
            multiply_add(grad_lanes, size * j, alpha, LANES * e, row, 0, width)
    _gat_attention_backward_nodes(grad_source, grad_target, lanes, weights, grad_lanes, out, grad_weight)


@compiled
def _gat_attention_backward_nodes(
    grad_source: Array,
    grad_target: Array,
    lanes: Array,
    weights: Array,
    grad_lanes: Array,
    out: Array,
    grad_weight: Array,
) -> None:
    rows, heads, width = out.shape
    size = LANES * width
    padded_weights, block = np.zeros(2 * size, lanes.dtype), np.empty(2 * size, lanes.dtype)
    totals = np.zeros(2 * size, np.float64)
    for end in range(2):
        for h in range(heads):
            for k in range(width):
                padded_weights[size * end + LANES * k + h] = weights[end, h, k]
    for begin in range(0, rows, BLOCK):
        block[:] = 0
        for i in range(begin, min(rows, begin + BLOCK)):
            multiply_add(grad_lanes, size * i, grad_source, LANES * i, padded_weights, 0, width)
            multiply_add(grad_lanes, size * i, grad_target, LANES * i, padded_weights, size, width)
            multiply_add(block, 0, grad_source, LANES * i, lanes, size * i, width)
            multiply_add(block, size, grad_target, LANES * i, lanes, size * i, width)
            for h in range(heads):
                for k in range(width):
                    out[i, h, k] = grad_lanes[size * i + LANES * k + h]
        for at in range(2 * size):
            totals[at] += block[at]
    for end in range(2):
        for h in range(heads):
            for k in range(width):
                grad_weight[end, h, k] = totals[size * end + LANES * k + h]
