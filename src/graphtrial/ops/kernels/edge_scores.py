"""Scores of GAT for each edge, and their gradients."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.dot_product import dot_product

TILE = 64  # rows that a thread takes at a time
BLOCK = 256  # rows whose gradients are summed before the sum is added to those of other blocks


@compiled
def node_scores(claim: Array, z: Array, source: Array, target: Array, out: Array) -> None:
    """out[0] = source . z and out[1] = target . z; z [rows, heads, width], source and target [heads, width].

    out: [2, rows, heads].
    """
    rows, heads, _ = z.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for h in range(heads):
                out[0, i, h] = dot_product(z[i, h], source[h])
                out[1, i, h] = dot_product(z[i, h], target[h])
        first = TILE * next_block(claim)


@compiled
def edge_scores(claim: Array, ptr: Array, index: Array, at_node: Array, slope: float, out: Array) -> None:
    """out[e] = leaky_relu(at_node[0, index[e]] + at_node[1, i]) for the entries e of each row i, [entries, heads]."""
    rows, heads, below = len(ptr) - 1, out.shape[1], out.dtype.type(slope)
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for e in range(ptr[i], ptr[i + 1]):
                for h in range(heads):
                    total = at_node[0, index[e], h] + at_node[1, i, h]
                    out[e, h] = total if total > 0 else total * below
        first = TILE * next_block(claim)


@compiled
def edge_score_gradients(
    claim: Array,
    ptr: Array,
    transpose_ptr: Array,
    transpose_perm: Array,
    grad_output: Array,
    scores: Array,
    slope: float,
    z: Array,
    source: Array,
    target: Array,
    grad_z: Array,
    sums: Array,
) -> None:
    """Gradients of z [rows, heads, width] and, per block of rows, of the attention vectors.

    grad_output and scores, the output of `edge_scores`: [entries, heads]; sums: [2, blocks, heads * width].
    """
    rows, heads, width = z.shape
    below, one = scores.dtype.type(slope), scores.dtype.type(1)
    number = next_block(claim)
    while number < sums.shape[1]:
        sums[:, number] = 0
        of_source, of_target = sums[0, number], sums[1, number]
        for j in range(number * BLOCK, min(rows, (number + 1) * BLOCK)):
            for h in range(heads):
                sent = received = scores.dtype.type(0)
                for at in range(transpose_ptr[j], transpose_ptr[j + 1]):
                    e = transpose_perm[at]
                    sent += grad_output[e, h] * (one if scores[e, h] > 0 else below)
                for e in range(ptr[j], ptr[j + 1]):
                    received += grad_output[e, h] * (one if scores[e, h] > 0 else below)
                values, into = z[j, h], grad_z[j, h]
                a, b, first = source[h], target[h], h * width
                for k in range(width):
                    into[k] = sent * a[k] + received * b[k]
                for k in range(width):
                    of_source[first + k] += sent * values[k]
                    of_target[first + k] += received * values[k]
        number = next_block(claim)
