"""Instructions on edge weights that are computed: attention of GAT, Gaussians of MoNet (see `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.attention import BLOCK as GAT_BLOCK
from graphtrial.ops.kernels.attention import (
    add_attention_blocks,
    gat_attention,
    gat_gradients,
    gat_score_gradients,
    heads_to_lanes,
)
from graphtrial.ops.kernels.edge_scores import BLOCK as SCORES_BLOCK
from graphtrial.ops.kernels.edge_scores import edge_score_gradients, edge_scores, node_scores
from graphtrial.ops.kernels.mixture import BLOCK as GAUSSIAN_BLOCK
from graphtrial.ops.kernels.mixture import (
    add_gaussian_blocks,
    gaussian_gradients,
    gaussian_weights,
    mixture_sum,
    mixture_sum_input,
    mixture_sum_weight,
)
from graphtrial.ops.kernels.small_matmul import add_blocks
from graphtrial.ops.kernels.softmax import softmax, softmax_backward
from graphtrial.ops.kernels.spmm import sddmm, spmm_heads
from graphtrial.ops.kernels.vector import LANES
from graphtrial.tape.memory import integers, matrix, vector


@compiled
def _by_heads(table: Array, number: int, heads: int) -> Array:
    """Return an operand as [rows, heads, width]."""
    x = matrix(table, number)
    return x.reshape(x.shape[0], heads, x.shape[1] // heads)


@compiled
def _vectors(table: Array, number: int, heads: int) -> Array:
    """Return a parameter as [heads, width]."""
    x = vector(table, number)
    return x.reshape(heads, len(x) // heads)


@compiled
def multiply_heads(table: Array, c: Array, claim: Array) -> None:
    """SPMM_HEADS ptr, index, perm, weight, x, out; heads."""
    ptr, index, weight = integers(table, c[1]), integers(table, c[2]), matrix(table, c[4])
    x, out = _by_heads(table, c[5], c[7]), _by_heads(table, c[6], c[7])
    claim[0] = 0
    if c[3] < 0:
        spmm_heads(claim, True, ptr, index, None, weight, x, out)
    else:
        spmm_heads(claim, True, ptr, index, integers(table, c[3]), weight, x, out)


@compiled
def dots(table: Array, c: Array, claim: Array) -> None:
    """SDDMM ptr, index, left, right, out; heads."""
    claim[0] = 0
    left, right = _by_heads(table, c[3], c[6]), _by_heads(table, c[4], c[6])
    sddmm(claim, integers(table, c[1]), integers(table, c[2]), left, right, matrix(table, c[5]))


@compiled
def score(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """EDGE_SCORES ptr, index, z, source, target, out; heads; slope (number)."""
    heads, out = c[7], matrix(table, c[6])
    z, source, target = _by_heads(table, c[3], heads), _vectors(table, c[4], heads), _vectors(table, c[5], heads)
    at_node = np.empty((2, len(z), heads), np.float32)
    claim[0] = 0
    node_scores(claim, z, source, target, at_node)
    claim[0] = 0
    edge_scores(claim, integers(table, c[1]), integers(table, c[2]), at_node, numbers[c[8]], out)


@compiled
def score_backward(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """EDGE_SCORES_BACKWARD ptr, ptr and order of out-edges, grad_output, scores, z, source, target, grad_z,
    grad_source, grad_target; heads; slope (number)."""
    heads, g, scores = c[12], matrix(table, c[4]), matrix(table, c[5])
    z, source, target = _by_heads(table, c[6], heads), _vectors(table, c[7], heads), _vectors(table, c[8], heads)
    pointers = integers(table, c[1]), integers(table, c[2]), integers(table, c[3])
    sums = np.empty((2, (len(z) + SCORES_BLOCK - 1) // SCORES_BLOCK, source.size), np.float32)
    into, slope = _by_heads(table, c[9], heads), numbers[c[13]]
    claim[0] = 0
    edge_score_gradients(
        claim, pointers[0], pointers[1], pointers[2], g, scores, slope, z, source, target, into, sums
    )  # fmt: skip
    add_blocks(sums[0], vector(table, c[10]))
    add_blocks(sums[1], vector(table, c[11]))


@compiled
def normalize_scores(table: Array, c: Array, claim: Array) -> None:
    """SOFTMAX ptr, scores, out."""
    claim[0] = 0
    softmax(claim, integers(table, c[1]), matrix(table, c[2]), matrix(table, c[3]))


@compiled
def normalize_scores_backward(table: Array, c: Array, claim: Array) -> None:
    """SOFTMAX_BACKWARD ptr, grad_output, out, grad_scores."""
    claim[0] = 0
    softmax_backward(claim, integers(table, c[1]), matrix(table, c[2]), matrix(table, c[3]), matrix(table, c[4]))


@compiled
def attend_neighbours(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """GAT ptr, index, z, source, target, lanes, scores, alpha, out; heads; slope (number)."""
    heads, ptr, index = c[10], integers(table, c[1]), integers(table, c[2])
    z, source, target = _by_heads(table, c[3], heads), _vectors(table, c[4], heads), _vectors(table, c[5], heads)
    lanes, scores, alpha = vector(table, c[6]), vector(table, c[7]), vector(table, c[8])
    at_source, at_target = scores[: LANES * len(z)], scores[LANES * len(z) :]
    claim[0] = 0
    heads_to_lanes(claim, z, source, target, lanes, at_source, at_target)
    claim[0] = 0
    out = _by_heads(table, c[9], heads)
    gat_attention(claim, ptr, index, lanes, at_source, at_target, numbers[c[11]], alpha, out)


@compiled
def attend_neighbours_backward(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    """GAT_BACKWARD ptr, index, ptr, index and order of out-edges, grad_output, lanes, scores, alpha, source, target,
    buffers for the gradients of lanes, of scores of edges and of targets, grad_z, grad_source, grad_target; heads;
    slope (number)."""
    heads, slope = c[18], numbers[c[19]]
    ptr, index, g = integers(table, c[1]), integers(table, c[2]), _by_heads(table, c[6], heads)
    lanes, scores, alpha = vector(table, c[7]), vector(table, c[8]), vector(table, c[9])
    at_source, at_target = scores[: LANES * len(g)], scores[LANES * len(g) :]
    grad_lanes, grad_score, grad_target = vector(table, c[12]), vector(table, c[13]), vector(table, c[14])
    claim[0] = 0
    gat_score_gradients(
        claim, ptr, index, g, lanes, at_source, at_target, slope, alpha, grad_lanes, grad_score, grad_target
    )  # fmt: skip
    width = g.shape[2]
    weights, grads = np.empty((2, heads, width), np.float32), np.empty((2, heads, width), np.float32)
    weights[0] = _vectors(table, c[10], heads)
    weights[1] = _vectors(table, c[11], heads)
    sums = np.empty(((len(g) + GAT_BLOCK - 1) // GAT_BLOCK, 2 * width * LANES), np.float32)
    transpose = integers(table, c[3]), integers(table, c[4]), integers(table, c[5])
    claim[0] = 0
    gat_gradients(
        claim, transpose[0], transpose[1], transpose[2], lanes, alpha, weights, grad_lanes, grad_score, grad_target,
        _by_heads(table, c[15], heads), sums,
    )  # fmt: skip
    add_attention_blocks(sums, grads)
    vector(table, c[16])[:] = grads[0].reshape(-1)
    vector(table, c[17])[:] = grads[1].reshape(-1)


@compiled
def gaussians(table: Array, c: Array, claim: Array) -> None:
    """GAUSSIANS ptr, index, weight, bias, mean, inverse, u, out."""
    claim[0] = 0
    ptr, index, bias = integers(table, c[1]), integers(table, c[2]), vector(table, c[4])
    weight, mean, inverse = matrix(table, c[3]), matrix(table, c[5]), matrix(table, c[6])
    gaussian_weights(claim, ptr, index, weight, bias, mean, inverse, matrix(table, c[7]), matrix(table, c[8]))


@compiled
def gaussians_backward(table: Array, c: Array, claim: Array) -> None:
    """GAUSSIANS_BACKWARD ptr, index, mean, inverse, u, out, grad_output, grads of weight, bias, mean, inverse."""
    ptr, index = integers(table, c[1]), integers(table, c[2])
    mean, inverse, u = matrix(table, c[3]), matrix(table, c[4]), matrix(table, c[5])
    sums = np.empty(((len(ptr) - 1 + GAUSSIAN_BLOCK - 1) // GAUSSIAN_BLOCK, 6 + 4 * len(mean)))
    claim[0] = 0
    gaussian_gradients(claim, ptr, index, mean, inverse, u, matrix(table, c[6]), matrix(table, c[7]), sums)
    grads = vector(table, c[8]), vector(table, c[9]), vector(table, c[10]), vector(table, c[11])
    add_gaussian_blocks(sums, grads[0], grads[1], grads[2], grads[3])


@compiled
def mix(table: Array, c: Array, claim: Array) -> None:
    """MIXTURE_SUM ptr, index, weight, z, out; kernels."""
    claim[0] = 0
    z = _by_heads(table, c[4], c[6])
    mixture_sum(claim, True, integers(table, c[1]), integers(table, c[2]), matrix(table, c[3]), z, matrix(table, c[5]))


@compiled
def mix_backward(table: Array, c: Array, claim: Array) -> None:
    """MIXTURE_SUM_BACKWARD ptr, index, ptr, index and order of out-edges, weight, z, grad_output, grad_z,
    grad_weight; kernels."""
    kernels, weight, g = c[11], matrix(table, c[6]), matrix(table, c[8])
    transpose = integers(table, c[3]), integers(table, c[4]), integers(table, c[5])
    claim[0] = 0
    into = _by_heads(table, c[9], kernels)
    mixture_sum_input(claim, True, transpose[0], transpose[1], transpose[2], weight, g, into)
    claim[0] = 0
    z, dots_into = _by_heads(table, c[7], kernels), matrix(table, c[10])
    mixture_sum_weight(claim, integers(table, c[1]), integers(table, c[2]), g, z, dots_into)
