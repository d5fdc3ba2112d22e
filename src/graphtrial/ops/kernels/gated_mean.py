"""Gated mean of GatedGCN, by chunks of edges whose intermediate results stay in the processor's cache."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.exponential import sigmoid
from graphtrial.ops.kernels.gate_gradients import gate_gradients
from graphtrial.ops.kernels.matmul import add_transposed, matmul_rows, pack
from graphtrial.ops.kernels.row_chunks import longest_chunk, longest_chunk_of_groups, split_rows
from graphtrial.ops.kernels.strips import TILE_ROWS
from graphtrial.ops.kernels.vector import LANES


@compiled
def gated_mean(
    claim: Array,
    chunk: int,
    ptr: Array,
    index: Array,
    source: Array,
    target: Array,
    edge: Array,
    weight: Array,
    value: Array,
    epsilon: float,
    logits: Array,
    mean: Array,
    inverse: Array,
) -> None:
    """logits[e] = source[index[e]] + target[i] + weight @ edge[e] for the entries e of each row i.

    mean[i] = inverse[i] * sum of gate[e] * value[index[e]], where gate = sigmoid(logits) and inverse[i] = 1 / (sum of
    gate[e] + epsilon). Without weight, `edge` is added as it is; without edge, nothing.
    """
    rows, width = target.shape
    chunks = split_rows(ptr, 0, rows, chunk)
    number = next_block(claim)
    if number >= len(chunks) - 1:
        return
    gate = np.empty((longest_chunk(ptr, chunks), width), value.dtype)
    packed = np.empty(width * (width + 2 * LANES), value.dtype)
    if weight is not None:
        pack(weight, True, width, width, packed)
    while number < len(chunks) - 1:
        first, last = chunks[number], chunks[number + 1]
        base, end = ptr[first], ptr[last]
        if weight is not None:
            _product(edge[base:end], weight, True, packed, logits[base:end])
        _gates(ptr, index, source, target, edge, weight, logits, first, last)
        sigmoid(logits[base:end].reshape(-1), gate[: end - base].reshape(-1))
        for i in range(first, last):
            top, bottom = mean[i], inverse[i]
            for k in range(width):
                top[k] = 0
                bottom[k] = epsilon
            for e in range(ptr[i], ptr[i + 1]):
                g, v = gate[e - base], value[index[e]]
                for k in range(width):
                    top[k] += g[k] * v[k]
                    bottom[k] += g[k]
            for k in range(width):
                bottom[k] = 1 / bottom[k]
                top[k] *= bottom[k]
        number = next_block(claim)


@compiled
def _gates(
    ptr: Array,
    index: Array,
    source: Array,
    target: Array,
    edge: Array,
    weight: Array,
    logits: Array,
    first: int,
    last: int,
) -> None:
    width = target.shape[1]
    for i in range(first, last):
        target_row = target[i]
        for e in range(ptr[i], ptr[i + 1]):
            into, a = logits[e], source[index[e]]
            if weight is not None:
                for k in range(width):
                    into[k] += a[k] + target_row[k]
            elif edge is not None:
                own = edge[e]
                for k in range(width):
                    into[k] = own[k] + (a[k] + target_row[k])
            else:
                for k in range(width):
                    into[k] = a[k] + target_row[k]


@compiled
def gated_mean_backward(
    claim: Array,
    chunk: int,
    groups: Array,
    ptr: Array,
    index: Array,
    logits: Array,
    edge: Array,
    weight: Array,
    value: Array,
    mean: Array,
    inverse: Array,
    grad_mean: Array,
    grad_logits: Array,
    grad_edge: Array,
    grad_weight: Array,
    grad_target: Array,
    grad_source: Array,
    grad_value: Array,
) -> None:
    """Gradients of edge, weight, target, source and value, given those of the outputs mean and logits.

    `groups` are the bounds of `independent_rows`; grad_weight [groups, width, width] is summed per group. Without
    `weight`, grad_edge is the gradient of the logits; without either, nothing is written to it. `grad_source` and
    `grad_value` start as 0 and are accumulated in the order of entries. `grad_logits` may be None.
    """
    width = value.shape[1]
    group = next_block(claim)
    if group >= len(groups) - 1:
        return
    longest = longest_chunk_of_groups(ptr, groups, chunk)
    gate, buffer = np.empty((longest, width), value.dtype), np.empty((longest, width), value.dtype)
    packed = np.empty(width * (width + 2 * LANES), value.dtype)
    if weight is not None:
        pack(weight, False, width, width, packed)
    while group < len(groups) - 1:
        chunks = split_rows(ptr, groups[group], groups[group + 1], chunk)
        if weight is not None:
            grad_weight[group] = 0
        for number in range(len(chunks) - 1):
            first, last = chunks[number], chunks[number + 1]
            base, end = ptr[first], ptr[last]
            gates = gate[: end - base]
            grad_l = buffer[: end - base] if edge is None or weight is not None else grad_edge[base:end]
            sigmoid(logits[base:end].reshape(-1), gates.reshape(-1))
            _gradients(
                (first, last),
                ptr,
                index,
                gates,
                value,
                mean,
                inverse,
                grad_mean,
                grad_logits,
                grad_l,
                grad_target,
                grad_source,
                grad_value,
            )
            if weight is not None:
                _product(grad_l, weight, False, packed, grad_edge[base:end])
                add_transposed(grad_l, edge[base:end], 0, end - base, grad_weight[group])
        group = next_block(claim)


@compiled
def _gradients(
    rows: tuple[int, int],
    ptr: Array,
    index: Array,
    gate: Array,
    value: Array,
    mean: Array,
    inverse: Array,
    grad_mean: Array,
    grad_logits: Array,
    grad_l: Array,
    grad_target: Array,
    grad_source: Array,
    grad_value: Array,
) -> None:
    width = value.shape[1]
    whole = width // LANES * LANES
    base = ptr[rows[0]]
    scaled_grad = np.empty(width, value.dtype)
    for i in range(rows[0], rows[1]):
        total, centre = grad_target[i], mean[i]
        for k in range(width):
            scaled_grad[k] = grad_mean[i, k] * inverse[i, k]
            total[k] = 0
        for e in range(ptr[i], ptr[i + 1]):
            j = index[e]
            into, g, v, sender, sent = grad_l[e - base], gate[e - base], value[j], grad_source[j], grad_value[j]
            for k in range(0, whole, LANES):
                gate_gradients(scaled_grad, g, v, centre, into, total, sender, sent, k, grad_logits, e * width + k)
            for k in range(whole, width):
                into[k] = scaled_grad[k] * (v[k] - centre[k]) * g[k] * (1 - g[k])
                if grad_logits is not None:
                    into[k] += grad_logits[e, k]
                total[k] += into[k]
                sender[k] += into[k]
                sent[k] += g[k] * scaled_grad[k]


@compiled
def _product(x: Array, weight: Array, transposed: bool, packed: Array, out: Array) -> None:
    """out = x @ weight, or x @ weight.T if `transposed`, for rows that may be too few for a register tile."""
    if len(x) >= TILE_ROWS:
        matmul_rows(x, packed, None, out, 0, len(x), None)
        return
    for r in range(len(x)):
        for c in range(out.shape[1]):
            total = x.dtype.type(0)
            for k in range(x.shape[1]):
                total += x[r, k] * (weight[c, k] if transposed else weight[k, c])
            out[r, c] = total
