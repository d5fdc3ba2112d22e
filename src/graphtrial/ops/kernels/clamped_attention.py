"""Attention with clamped exponentials along the entries of a sparse matrix, all heads in the lanes of a vector.

Lane l of each group of eight channels belongs to head l % heads, for 1, 2, 4 or 8 heads: no lane is idle. Forward and
backward on one core at width 40, 4 heads: 1.3 times as fast as gather and index_add on ZINC, 7.5 on PATTERN, 6.1 on
Wiki-CS, with edge states 1.1, 2.5 and 2.3; on CSL 1.1 and 0.9 (`python -m benchmarks.operators`, AMD, AVX-512).
"""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.clamped_lanes import (
    clamped_gradient,
    dot3,
    fold1,
    fold2,
    fold4,
    multiply3,
    multiply_add3,
    sum_vectors,
)
from graphtrial.ops.kernels.exponential import exponentials
from graphtrial.ops.kernels.lanes import copy, dot
from graphtrial.ops.kernels.spmm import wide_sum
from graphtrial.ops.kernels.vector import LANES

TILE = 64  # rows that a thread takes at a time


@compiled
def interleave_heads(claim: Array, x: Array, lanes: Array) -> None:
    """Transpose x [rows, heads, size] to lanes [rows, size * heads]."""
    rows, heads, size = x.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for h in range(heads):
                for k in range(size):
                    lanes[i, k * heads + h] = x[i, h, k]
        first = TILE * next_block(claim)


@compiled
def separate_heads(claim: Array, lanes: Array, out: Array) -> None:
    """Undo `interleave_heads`."""
    rows, heads, size = out.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for h in range(heads):
                for k in range(size):
                    out[i, h, k] = lanes[i, k * heads + h]
        first = TILE * next_block(claim)


@compiled
def clamped_attention(
    claim: Array,
    heads: int,
    bound: float,
    ptr: Array,
    index: Array,
    query: Array,
    key: Array,
    value: Array,
    edge: Array,
    logits: Array,
    out: Array,
    norm: Array,
) -> None:
    """out[i] = sum over the entries e of row i of w[e] * value[index[e]], and norm[i] = sum of w[e].

    w = exp(clamp(logits)) within +-bound, where logits[e] = sum of query[i] * key[index[e]] * edge[e], or without edge
    where it is None. All but logits [entries, 8] and norm [rows, 8] are [rows, columns or entries, size * heads], with
    heads in lanes.
    """
    rows, width = out.shape
    groups = width // LANES
    q, k, v, s = query.reshape(-1), key.reshape(-1), value.reshape(-1), logits.reshape(-1)
    into, total = out.reshape(-1), norm.reshape(-1)
    if edge is not None:
        states = edge.reshape(-1)
    weight = np.empty((_longest_tile(ptr), LANES), value.dtype)
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        base = ptr[first]
        for i in range(first, last):
            for e in range(ptr[i], ptr[i + 1]):
                if edge is None:
                    dot(s, LANES * e, q, width * i, k, width * index[e], groups)
                else:
                    dot3(s, LANES * e, q, width * i, states, width * e, k, width * index[e], groups)
                fold(s, LANES * e, heads)
        _exponentials(s[LANES * base : LANES * ptr[last]], weight, bound)
        for i in range(first, last):
            sum_vectors(total, LANES * i, weight, LANES * (ptr[i] - base), ptr[i + 1] - ptr[i])
        wide_sum(ptr, index, None, weight, -base, 1, None, v, into, first, last, width, 0, width)
        first = TILE * next_block(claim)


@compiled
def clamped_attention_query(
    claim: Array,
    heads: int,
    bound: float,
    ptr: Array,
    index: Array,
    query: Array,
    key: Array,
    value: Array,
    edge: Array,
    logits: Array,
    grad_output: Array,
    grad_norm: Array,
    grad_query: Array,
    grad_edge: Array,
    pairs: Array,
) -> None:
    """Gradients of query and edge; pairs [2 * entries, 8] is set to weight and gradient of the logit of each entry.

    grad_output: [rows, size * heads], with heads in lanes; grad_norm: [rows, 8].
    """
    rows, width = grad_query.shape
    groups = width // LANES
    k, v, s, into = key.reshape(-1), value.reshape(-1), logits.reshape(-1), grad_query.reshape(-1)
    g, of_norm, both = grad_output.reshape(-1), grad_norm.reshape(-1), pairs.reshape(-1)
    if edge is not None:
        q, states, of_states = query.reshape(-1), edge.reshape(-1), grad_edge.reshape(-1)
    weight = np.empty((_longest_tile(ptr), LANES), value.dtype)
    bounds = np.full(LANES, bound, value.dtype)
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        base = ptr[first]
        _exponentials(s[LANES * base : LANES * ptr[last]], weight, bound)
        for i in range(first, last):
            for e in range(ptr[i], ptr[i + 1]):
                at, grad = 2 * LANES * e, 2 * LANES * e + LANES
                copy(both, at, weight, LANES * (e - base))
                dot(both, grad, g, width * i, v, width * index[e], groups)
                fold(both, grad, heads)
                clamped_gradient(both, grad, both, at, of_norm, LANES * i, s, LANES * e, bounds)
        if edge is None:
            wide_sum(ptr, index, None, pairs, 1, 2, None, k, into, first, last, width, 0, width)
        else:
            for i in range(first, last):
                grad_query[i] = 0
                for e in range(ptr[i], ptr[i + 1]):
                    grad, j = 2 * LANES * e + LANES, width * index[e]
                    multiply_add3(into, width * i, both, grad, k, j, states, width * e, groups)
                    multiply3(of_states, width * e, both, grad, k, j, q, width * i, groups)
        first = TILE * next_block(claim)


@compiled
def clamped_attention_key(
    claim: Array,
    ptr: Array,
    index: Array,
    perm: Array,
    query: Array,
    edge: Array,
    grad_output: Array,
    pairs: Array,
    grad_key: Array,
    grad_value: Array,
) -> None:
    """Gradients of key and value by the `pairs` of `clamped_attention_query`; ptr, index and perm of the transpose."""
    rows, width = grad_key.shape
    groups = width // LANES
    q, g, both = query.reshape(-1), grad_output.reshape(-1), pairs.reshape(-1)
    of_key, of_value = grad_key.reshape(-1), grad_value.reshape(-1)
    if edge is not None:
        states = edge.reshape(-1)
    first = TILE * next_block(claim)
    while first < rows:
        last = min(rows, first + TILE)
        wide_sum(ptr, index, perm, pairs, 0, 2, None, g, of_value, first, last, width, 0, width)
        if edge is None:
            wide_sum(ptr, index, perm, pairs, 1, 2, None, q, of_key, first, last, width, 0, width)
        else:
            for j in range(first, last):
                grad_key[j] = 0
                for entry in range(ptr[j], ptr[j + 1]):
                    e, i = perm[entry], index[entry]
                    grad = 2 * LANES * e + LANES
                    multiply_add3(of_key, width * j, both, grad, q, width * i, states, width * e, groups)
        first = TILE * next_block(claim)


@compiled
def _exponentials(logits: Array, out: Array, bound: float) -> None:
    """out [entries, 8] = exp(clamp(logits)) of flat logits; out may be longer. NaN propagates."""
    high, flat = out.dtype.type(bound), out.reshape(-1)
    for k in range(len(logits)):
        s = logits[k]
        s = high if s > high else s
        flat[k] = -high if s < -high else s
    exponentials(flat[: len(logits)])


@compiled
def fold(x: Array, at: int, heads: int) -> None:
    """Set each of eight elements to the sum of those of its head."""
    if heads < 8:
        fold4(x, at)
    if heads < 4:
        fold2(x, at)
    if heads < 2:
        fold1(x, at)


@compiled
def _longest_tile(ptr: Array) -> int:
    """Return the largest number of entries of a tile of rows."""
    most = 0
    for first in range(0, len(ptr) - 1, TILE):
        most = max(most, ptr[min(first + TILE, len(ptr) - 1)] - ptr[first])
    return most
