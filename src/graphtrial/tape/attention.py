"""Instructions of multi-head attention over in-neighbours (see `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.attention import (
    BLOCK,
    add_attention_blocks,
    gat_attention,
    gat_gradients,
    gat_score_gradients,
    heads_to_lanes,
)
from graphtrial.ops.kernels.vector import LANES
from graphtrial.tape.memory import cube, integers, vector


@compiled
def attend(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """ATTENTION ptr, index, z, source, target, lanes, scores, alpha, out; heads; slope (number)."""
    heads = c[10]
    z, out, lanes = cube(table, c[3], heads), cube(table, c[9], heads), vector(table, c[6])
    source, target = cube(table, c[4], heads)[0], cube(table, c[5], heads)[0]
    scores, size = vector(table, c[7]), len(z) * LANES
    claim[0] = 0
    heads_to_lanes(claim, z, source, target, lanes, scores[:size], scores[size:])
    claim[0] = 0
    ptr, index, alpha = integers(table, c[1]), integers(table, c[2]), vector(table, c[8])
    gat_attention(claim, ptr, index, lanes, scores[:size], scores[size:], numbers[c[11]], alpha, out)


@compiled
def attend_backward(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """ATTENTION_BACKWARD ptr, index, colptr, row, perm, grad_output, source, target, lanes, scores, alpha, grad_z,
    grad_source, grad_target; heads; slope (number)."""
    heads = c[15]
    grad, out = cube(table, c[6], heads), cube(table, c[12], heads)
    nodes, _, width = grad.shape
    lanes, scores, alpha = vector(table, c[9]), vector(table, c[10]), vector(table, c[11])
    size = nodes * LANES
    grad_lanes, grad_score = np.empty(len(lanes), np.float32), np.empty(len(alpha), np.float32)
    grad_target = np.empty(size, np.float32)
    source, target, slope = scores[:size], scores[size:], numbers[c[16]]
    ptr, index = integers(table, c[1]), integers(table, c[2])
    claim[0] = 0
    gat_score_gradients(
        claim, ptr, index, grad, lanes, source, target, slope, alpha, grad_lanes, grad_score, grad_target
    )
    weights, grad_weights = np.empty((2, heads, width), np.float32), np.empty((2, heads, width), np.float32)
    weights[0], weights[1] = cube(table, c[7], heads)[0], cube(table, c[8], heads)[0]
    sums = np.empty(((nodes + BLOCK - 1) // BLOCK, 2 * width * LANES), np.float32)
    colptr, row, perm = integers(table, c[3]), integers(table, c[4]), integers(table, c[5])
    claim[0] = 0
    gat_gradients(claim, colptr, row, perm, lanes, alpha, weights, grad_lanes, grad_score, grad_target, out, sums)
    add_attention_blocks(sums, grad_weights)
    vector(table, c[13])[:] = grad_weights[0].reshape(-1)
    vector(table, c[14])[:] = grad_weights[1].reshape(-1)
