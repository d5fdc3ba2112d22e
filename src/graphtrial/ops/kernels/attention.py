"""The fused attention of GAT."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.exponential import exponentials
from graphtrial.ops.kernels.lanes import (
    add,
    dot,
    leaky_relu,
    leaky_relu_backward,
    maximum,
    multiply,
    multiply_add,
    subtract,
    transpose,
)
from graphtrial.ops.kernels.vector import LANES

TILE = 64  # rows that a thread takes at a time
BLOCK = 256  # rows summed in the input's precision before the sum is added to a float64 total


@compiled
def heads_to_lanes(
    claim: Array, z: Array, source: Array, target: Array, lanes: Array, source_score: Array, target_score: Array
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
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            transpose_heads(z, i, lanes, size * i)
            dot(source_score, LANES * i, lanes, size * i, weights, 0, width)
            dot(target_score, LANES * i, lanes, size * i, weights, size, width)
        first = TILE * next_block(claim)


@compiled
def transpose_heads(z: Array, i: int, lanes: Array, at: int) -> None:
    """Write row i of z [rows, heads, width] to `lanes` [width, 8] from `at` on, padded with 0."""
    _, heads, width = z.shape
    if heads == LANES and width >= LANES:
        flat, first = z.reshape(-1), i * heads * width
        for k in range(0, width, LANES):
            c = min(k, width - LANES)
            transpose(lanes, at + LANES * c, LANES, flat, first + c, width)
        return
    lanes[at : at + LANES * width] = 0
    for h in range(heads):
        for k in range(width):
            lanes[at + LANES * k + h] = z[i, h, k]


@compiled
def transpose_lanes(lanes: Array, out: Array, i: int) -> None:
    """Write `lanes` [width, 8] to row i of out [rows, heads, width]."""
    _, heads, width = out.shape
    if heads == LANES and width >= LANES:
        flat, first = out.reshape(-1), i * heads * width
        for k in range(0, width, LANES):
            c = min(k, width - LANES)
            transpose(flat, first + c, width, lanes, LANES * c, LANES)
        return
    for h in range(heads):
        for k in range(width):
            out[i, h, k] = lanes[LANES * k + h]


@compiled
def gat_attention(
    claim: Array,
    ptr: Array,
    index: Array,
    lanes: Array,
    source: Array,
    target: Array,
    slope: float,
    alpha: Array,
    out: Array,
) -> None:
    """out [rows, heads, width] = sum over the entries e of each row of alpha[e] * lanes[index[e]].

    alpha, flat [entries, 8], is set to the softmax over each row i of leaky_relu(source[index[e]] + target[i]).
    """
    rows, _, width = out.shape
    size = LANES * width
    row, steps = np.empty(size, lanes.dtype), np.full(LANES, slope, lanes.dtype)
    top, total = np.empty(LANES, lanes.dtype), np.empty(LANES, lanes.dtype)
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        for i in range(first, last):
            begin, end = ptr[i], ptr[i + 1]
            top[:] = -np.inf
            for e in range(begin, end):
                leaky_relu(alpha, LANES * e, source, LANES * index[e], target, LANES * i, steps)
                maximum(top, 0, alpha, LANES * e)
            for e in range(begin, end):
                subtract(alpha, LANES * e, top, 0)
        exponentials(alpha[LANES * ptr[first] : LANES * ptr[last]])
        for i in range(first, last):
            begin, end = ptr[i], ptr[i + 1]
            total[:] = 0
            row[:] = 0
            for e in range(begin, end):
                add(total, 0, alpha, LANES * e)
            for h in range(LANES):
                total[h] = 1 / total[h]
            for e in range(begin, end):
                multiply(alpha, LANES * e, total, 0)
                multiply_add(row, 0, alpha, LANES * e, lanes, size * index[e], width)
            transpose_lanes(row, out, i)
        first = TILE * next_block(claim)


@compiled
def gat_score_gradients(
    claim: Array,
    ptr: Array,
    index: Array,
    grad_output: Array,
    lanes: Array,
    source: Array,
    target: Array,
    slope: float,
    alpha: Array,
    grad_lanes: Array,
    grad_score: Array,
    grad_target: Array,
) -> None:
    """Gradients of the scores of entries, flat [entries, 8], and of their sums over rows, flat [rows, 8].

    lanes, source and target are outputs of `heads_to_lanes`, alpha of `gat_attention`; grad_lanes is set to grad_output
    [rows, heads, width], transposed like lanes.
    """
    rows, _, width = grad_output.shape
    size = LANES * width
    steps, total = np.full(LANES, slope, lanes.dtype), np.empty(LANES, lanes.dtype)
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            begin, end = ptr[i], ptr[i + 1]
            transpose_heads(grad_output, i, grad_lanes, size * i)
            total[:] = 0
            for e in range(begin, end):
                dot(grad_score, LANES * e, grad_lanes, size * i, lanes, size * index[e], width)
                multiply_add(total, 0, alpha, LANES * e, grad_score, LANES * e, 1)
            grad_target[LANES * i : LANES * (i + 1)] = 0
            for e in range(begin, end):
                subtract(grad_score, LANES * e, total, 0)
                multiply(grad_score, LANES * e, alpha, LANES * e)
                leaky_relu_backward(grad_score, LANES * e, source, LANES * index[e], target, LANES * i, steps)
                add(grad_target, LANES * i, grad_score, LANES * e)
        first = TILE * next_block(claim)


@compiled
def gat_gradients(
    claim: Array,
    ptr: Array,
    index: Array,
    perm: Array,
    lanes: Array,
    alpha: Array,
    weights: Array,
    grad_lanes: Array,
    grad_score: Array,
    grad_target: Array,
    out: Array,
    sums: Array,
) -> None:
    """Gradients of z [rows, heads, width] (out) and, per block of rows, of the attention vectors.

    ptr, index and perm are those of the transpose; weights: [2, heads, width]; sums: [blocks, 2 * width * 8].
    """
    rows, heads, width = out.shape
    size = LANES * width
    row, grad_source, padded = (
        np.empty(size, lanes.dtype),
        np.empty(LANES, lanes.dtype),
        np.zeros(2 * size, lanes.dtype),
    )
    for end in range(2):
        for h in range(heads):
            for k in range(width):
                padded[size * end + LANES * k + h] = weights[end, h, k]
    number = next_block(claim)
    while number < len(sums):
        block = sums[number]
        block[:] = 0
        for j in range(number * BLOCK, min(rows, (number + 1) * BLOCK)):
            row[:] = 0
            grad_source[:] = 0
            for at in range(ptr[j], ptr[j + 1]):
                e = perm[at]
                add(grad_source, 0, grad_score, LANES * e)
                multiply_add(row, 0, alpha, LANES * e, grad_lanes, size * index[at], width)
            multiply_add(row, 0, grad_source, 0, padded, 0, width)
            multiply_add(row, 0, grad_target, LANES * j, padded, size, width)
            multiply_add(block, 0, grad_source, 0, lanes, size * j, width)
            multiply_add(block, size, grad_target, LANES * j, lanes, size * j, width)
            transpose_lanes(row, out, j)
        number = next_block(claim)


@compiled
def add_attention_blocks(sums: Array, grad_weight: Array) -> None:
    """Sum the outputs of `gat_gradients` over blocks to grad_weight [2, heads, width]."""
    _, heads, width = grad_weight.shape
    for end in range(2):
        for h in range(heads):
            for k in range(width):
                total = 0.0
                for number in range(len(sums)):
                    total += sums[number, LANES * (width * end + k) + h]
                grad_weight[end, h, k] = total
