"""Multi-head self-attention among the nodes of each graph, by blocks of queries whose scores stay in the cache."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.dropout import fill_mask
from graphtrial.ops.kernels.exponential import exponentials
from graphtrial.ops.kernels.matmul import strided_product
from graphtrial.ops.kernels.strips import TILE_ROWS
from graphtrial.ops.kernels.vector import LANES

QUERIES = 48  # of a block; a multiple of the height of every tile


@compiled
def graph_attention(
    claim: Array,
    ptr: Array,
    qkv: Array,
    heads: int,
    seed: Array,
    threshold: int,
    value: float,
    out: Array,
    norm: Array,
) -> None:
    """out[i] = sum over nodes j of its graph of softmax_j(q_i . k_j / sqrt(size)) v_j, head by head.

    qkv: [nodes, 3 * width], queries, keys and values of all heads; out: [nodes, width]; norm: [nodes, 2 * heads], the
    maximum of each row of scores and the inverse of its sum, for the gradient. `ptr` are the bounds of graphs. Weights
    are kept with probability threshold / 65536 and multiplied by `value`; a negative threshold keeps all.
    """
    width, dtype = out.shape[1], qkv.dtype
    size = width // heads
    number, blocks = next_block(claim), (len(ptr) - 1) * heads
    if number >= blocks:
        return
    depth, longest, places = _padded(size), _longest(ptr), _places(ptr)
    q, keys = np.zeros((longest + TILE_ROWS) * depth, dtype), np.empty(longest * depth, dtype)
    values, scores = np.zeros(longest * depth, dtype), np.empty((QUERIES + TILE_ROWS) * longest, dtype)
    mask, sums = np.empty(QUERIES * longest, dtype), np.empty((QUERIES + TILE_ROWS) * depth, dtype)
    lanes = np.empty(LANES, dtype)
    while number < blocks:
        graph, head = number // heads, number % heads
        begin, n = ptr[graph], ptr[graph + 1] - ptr[graph]
        m, at = _padded(n), head * size
        _load(qkv, begin, n, at, size, _scale(size, qkv), depth, q)
        _load_transposed(qkv, begin, n, width + at, size, m, keys)
        _load(qkv, begin, n, 2 * width + at, size, dtype.type(1), depth, values)
        for first in range(0, n, QUERIES):
            count = min(QUERIES, n - first)
            strided_product(count, m, size, (q, first * depth, depth, 1), (keys, 0, m), scores)
            for r in range(count):
                row = scores[r * m : (r + 1) * m]
                row[n:] = row[0]
                top = _maximum(row, lanes)
                _exponentials(row, top, n)
                norm[begin + first + r, 2 * head] = top
                norm[begin + first + r, 2 * head + 1] = 1 / _total(row, lanes)
            if threshold >= 0:
                place = heads * places[graph] + (head * n + first) * m
                fill_mask(seed[0], place, threshold, value, mask[: count * m])
                for k in range(count * m):
                    scores[k] *= mask[k]
            strided_product(count, depth, n, (scores, 0, m, 1), (values, 0, depth), sums)
            for r in range(count):
                inverse, into = norm[begin + first + r, 2 * head + 1], out[begin + first + r, at : at + size]
                for k in range(size):
                    into[k] = sums[r * depth + k] * inverse
        number = next_block(claim)


@compiled
def graph_attention_backward(
    claim: Array,
    ptr: Array,
    qkv: Array,
    heads: int,
    seed: Array,
    threshold: int,
    value: float,
    norm: Array,
    grad_output: Array,
    grad_qkv: Array,
) -> None:
    """Gradient of qkv; weights and dropout masks are computed again."""
    width, dtype = grad_output.shape[1], qkv.dtype
    size = width // heads
    number, blocks = next_block(claim), (len(ptr) - 1) * heads
    if number >= blocks:
        return
    depth, longest, places = _padded(size), _longest(ptr), _places(ptr)
    long_rows, rows = (longest + TILE_ROWS) * depth, longest * depth
    q, grads, keys = np.zeros(long_rows, dtype), np.zeros(long_rows, dtype), np.zeros(rows, dtype)
    key_columns, value_columns = np.empty(rows, dtype), np.empty(rows, dtype)
    pairs = (QUERIES + TILE_ROWS) * longest
    weights, scores, mask = np.empty(pairs, dtype), np.empty(pairs, dtype), np.empty(pairs, dtype)
    part, grad_q = np.empty(rows, dtype), np.empty((QUERIES + TILE_ROWS) * depth, dtype)
    grad_k, grad_v, lanes = np.empty(rows, dtype), np.empty(rows, dtype), np.empty(LANES, dtype)
    while number < blocks:
        graph, head = number // heads, number % heads
        begin, n = ptr[graph], ptr[graph + 1] - ptr[graph]
        m, at, scale = _padded(n), head * size, _scale(size, qkv)
        _load(qkv, begin, n, at, size, scale, depth, q)
        _load(qkv, begin, n, width + at, size, dtype.type(1), depth, keys)
        _load(grad_output, begin, n, at, size, dtype.type(1), depth, grads)
        _load_transposed(qkv, begin, n, width + at, size, m, key_columns)
        _load_transposed(qkv, begin, n, 2 * width + at, size, m, value_columns)
        grad_k[: m * depth] = 0
        grad_v[: m * depth] = 0
        for first in range(0, n, QUERIES):
            count = min(QUERIES, n - first)
            elements, queries = count * m, first * depth
            strided_product(count, m, size, (q, queries, depth, 1), (key_columns, 0, m), weights)
            strided_product(count, m, size, (grads, queries, depth, 1), (value_columns, 0, m), scores)
            for r in range(count):
                row, of_row = weights[r * m : (r + 1) * m], norm[begin + first + r]
                row[n:] = row[0]
                _exponentials(row, of_row[2 * head], n)
                for k in range(m):
                    row[k] *= of_row[2 * head + 1]
            dropped = weights
            if threshold >= 0:
                place = heads * places[graph] + (head * n + first) * m
                fill_mask(seed[0], place, threshold, value, mask[:elements])
                for k in range(elements):
                    scores[k] *= mask[k]
                for k in range(elements):
                    mask[k] *= weights[k]
                dropped = mask
            strided_product(m, depth, count, (dropped, 0, 1, m), (grads, queries, depth), part)
            for k in range(m * depth):
                grad_v[k] += part[k]
            for r in range(count):
                row, into = weights[r * m : (r + 1) * m], scores[r * m : (r + 1) * m]
                mean = _dot(row, into, lanes)
                for k in range(m):
                    into[k] = row[k] * (into[k] - mean)
            strided_product(count, depth, n, (scores, 0, m, 1), (keys, 0, depth), grad_q)
            for r in range(count):
                into = grad_qkv[begin + first + r, at : at + size]
                for k in range(size):
                    into[k] = grad_q[r * depth + k] * scale
            strided_product(m, depth, count, (scores, 0, 1, m), (q, queries, depth), part)
            for k in range(m * depth):
                grad_k[k] += part[k]
        for r in range(n):
            for_key, for_value = grad_qkv[begin + r, width + at :], grad_qkv[begin + r, 2 * width + at :]
            for k in range(size):
                for_key[k] = grad_k[r * depth + k]
                for_value[k] = grad_v[r * depth + k]
        number = next_block(claim)


@compiled
def _padded(size: int) -> int:
    """Return a size as a multiple of a vector, at least that of the highest tile."""
    return max(2 * LANES, (size + LANES - 1) // LANES * LANES)


@compiled
def _longest(ptr: Array) -> int:
    """Return the padded size of the largest graph."""
    most = 0
    for graph in range(len(ptr) - 1):
        most = max(most, ptr[graph + 1] - ptr[graph])
    return _padded(most)


@compiled
def _places(ptr: Array) -> Array:
    """Return the place of each graph among the padded pairs of a head of all graphs, for random numbers."""
    places = np.zeros(len(ptr), np.int64)
    for graph in range(len(ptr) - 1):
        n = ptr[graph + 1] - ptr[graph]
        places[graph + 1] = places[graph] + n * _padded(n)
    return places


@compiled
def _scale(size: int, like: Array) -> float:
    scale: float = like.dtype.type(1 / np.sqrt(size))
    return scale


@compiled
def _load(x: Array, begin: int, n: int, at: int, size: int, scale: float, depth: int, out: Array) -> None:
    """Copy a head of the rows of a graph, times `scale`, to rows of `depth` elements."""
    for r in range(n):
        row, into = x[begin + r, at : at + size], out[r * depth : (r + 1) * depth]
        for k in range(size):
            into[k] = row[k] * scale


@compiled
def _load_transposed(x: Array, begin: int, n: int, at: int, size: int, m: int, out: Array) -> None:
    """Copy a head of the rows of a graph to columns; columns from n to m are 0."""
    for k in range(size):
        into = out[k * m : (k + 1) * m]
        for r in range(n):
            into[r] = x[begin + r, at + k]
        into[n:] = 0


@compiled
def _exponentials(row: Array, top: float, n: int) -> None:
    """row = e^(row - top), and 0 from n on."""
    for k in range(len(row)):
        row[k] -= top
    exponentials(row)
    row[n:] = 0


@compiled
def _maximum(row: Array, lanes: Array) -> float:
    """Return the maximum of a row, whose length is a multiple of `LANES`."""
    lanes[:] = row[:LANES]
    for first in range(LANES, len(row), LANES):
        for k in range(LANES):
            v = row[first + k]
            lanes[k] = v if v > lanes[k] else lanes[k]
    top: float = lanes.max()
    return top


@compiled
def _total(row: Array, lanes: Array) -> float:
    """Return the sum of a row, lane by lane, whose length is a multiple of `LANES`."""
    lanes[:] = row[:LANES]
    for first in range(LANES, len(row), LANES):
        for k in range(LANES):
            lanes[k] += row[first + k]
    total: float = lanes.sum()
    return total


@compiled
def _dot(a: Array, b: Array, lanes: Array) -> float:
    """Return the dot product of two rows, as `_total`."""
    lanes[:] = 0
    for first in range(0, len(a), LANES):
        for k in range(LANES):
            lanes[k] += a[first + k] * b[first + k]
    total: float = lanes.sum()
    return total
