"""Softmax over the rows of a sparse matrix, and the attention of GAT as a whole."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.exponential import exponential, exponentials
from graphtrial.ops.kernels.lanes import (
    LANES,
    add,
    dot,
    leaky,
    leaky_backward,
    multiply,
    multiply_add,
    raise_to,
    subtract,
)

BLOCK = 256  # rows whose sums are taken in the precision of the input before they are added in double precision


@compiled
def softmax(ptr: Array, scores: Array, out: Array) -> None:
    """out = softmax of scores [entries, heads] over the entries of each row, head by head."""
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
def softmax_backward(ptr: Array, gradient: Array, probability: Array, out: Array) -> None:
    """out = probability * (gradient - sum over the row of gradient * probability)."""
    heads = gradient.shape[1]
    for i in range(len(ptr) - 1):
        for h in range(heads):
            total = gradient.dtype.type(0)
            for e in range(ptr[i], ptr[i + 1]):
                total += gradient[e, h] * probability[e, h]
            for e in range(ptr[i], ptr[i + 1]):
                out[e, h] = probability[e, h] * (gradient[e, h] - total)


@compiled
def heads_to_lanes(z: Array, source: Array, target: Array, lanes: Array, of_source: Array, of_target: Array) -> None:
    """Lay at most eight heads of z [rows, heads, width] side by side, and take each head's products with two vectors.

    source, target: [heads, width]; lanes: flat [rows, width, 8]; of_source, of_target: flat [rows, 8]. Lanes without a
    head are 0.
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
        dot(of_source, LANES * i, lanes, size * i, weights, 0, width)
        dot(of_target, LANES * i, lanes, size * i, weights, size, width)


@compiled
def attend(
    ptr: Array, index: Array, lanes: Array, source: Array, target: Array, slope: float, share: Array, out: Array
) -> None:
    """out [rows, heads, width] = sum over the entries e of each row of share[e] * lanes[index[e]].

    share, flat [entries, 8], becomes the softmax over each row of the leaky ReLU of source[index[e]] + target[i].
    """
    rows, heads, width = out.shape
    size = LANES * width
    mine, steps = np.empty(size, lanes.dtype), np.full(LANES, slope, lanes.dtype)
    top, total = np.empty(LANES, lanes.dtype), np.empty(LANES, lanes.dtype)
    for i in range(rows):
        begin, end = ptr[i], ptr[i + 1]
        top[:] = -np.inf
        total[:] = 0
        mine[:] = 0
        for e in range(begin, end):
            leaky(share, LANES * e, source, LANES * index[e], target, LANES * i, steps)
            raise_to(top, 0, share, LANES * e)
        for e in range(begin, end):
            subtract(share, LANES * e, top, 0)
        exponentials(share[LANES * begin : LANES * end])
        for e in range(begin, end):
            add(total, 0, share, LANES * e)
        for h in range(LANES):
            total[h] = 1 / total[h]
        for e in range(begin, end):
            multiply(share, LANES * e, total, 0)
            multiply_add(mine, 0, share, LANES * e, lanes, size * index[e], width)
        for h in range(heads):
            for k in range(width):
                out[i, h, k] = mine[LANES * k + h]


@compiled
def attend_backward(
    ptr: Array,
    index: Array,
    gradient: Array,
    lanes: Array,
    source: Array,
    target: Array,
    slope: float,
    share: Array,
    weights: Array,
    longest: int,
    out: Array,
    weight_gradient: Array,
) -> None:
    """The gradients of z [rows, heads, width] and of the two vectors, weights [2, heads, width].

    lanes, source and target as `heads_to_lanes` made them, share as `attend` did; no row has more than `longest`
    entries.
    """
    rows, heads, width = gradient.shape
    size = LANES * width
    steps, total, mine = np.full(LANES, slope, lanes.dtype), np.empty(LANES, lanes.dtype), np.zeros(size, lanes.dtype)
    change = np.empty(LANES * longest, lanes.dtype)
    of_lanes = np.zeros(lanes.size, lanes.dtype)
    of_source, of_target = np.zeros(source.size, lanes.dtype), np.zeros(target.size, lanes.dtype)
    for i in range(rows):
        begin, end = ptr[i], ptr[i + 1]
        for h in range(heads):
            for k in range(width):
                mine[LANES * k + h] = gradient[i, h, k]
        total[:] = 0
        for e in range(begin, end):
            at = LANES * (e - begin)
            dot(change, at, mine, 0, lanes, size * index[e], width)
            multiply_add(total, 0, share, LANES * e, change, at, 1)
        for e in range(begin, end):
            at, j = LANES * (e - begin), index[e]
            subtract(change, at, total, 0)
            multiply(change, at, share, LANES * e)
            leaky_backward(change, at, source, LANES * j, target, LANES * i, steps)
            add(of_target, LANES * i, change, at)
            add(of_source, LANES * j, change, at)
            multiply_add(of_lanes, size * j, share, LANES * e, mine, 0, width)
    _attend_backward_nodes(of_source, of_target, lanes, weights, of_lanes, out, weight_gradient)


@compiled
def _attend_backward_nodes(
    of_source: Array,
    of_target: Array,
    lanes: Array,
    weights: Array,
    of_lanes: Array,
    out: Array,
    weight_gradient: Array,
) -> None:
    rows, heads, width = out.shape
    size = LANES * width
    known, block = np.zeros(2 * size, lanes.dtype), np.empty(2 * size, lanes.dtype)
    totals = np.zeros(2 * size, np.float64)
    for of in range(2):
        for h in range(heads):
            for k in range(width):
                known[size * of + LANES * k + h] = weights[of, h, k]
    for begin in range(0, rows, BLOCK):
        block[:] = 0
        for i in range(begin, min(rows, begin + BLOCK)):
            multiply_add(of_lanes, size * i, of_source, LANES * i, known, 0, width)
            multiply_add(of_lanes, size * i, of_target, LANES * i, known, size, width)
            multiply_add(block, 0, of_source, LANES * i, lanes, size * i, width)
            multiply_add(block, size, of_target, LANES * i, lanes, size * i, width)
            for h in range(heads):
                for k in range(width):
                    out[i, h, k] = of_lanes[size * i + LANES * k + h]
        for at in range(2 * size):
            totals[at] += block[at]
    for of in range(2):
        for h in range(heads):
            for k in range(width):
                weight_gradient[of, h, k] = totals[size * of + LANES * k + h]
