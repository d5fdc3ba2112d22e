"""Instructions along edges: embeddings, SpMM, gated mean, sum of ReLU, attention within graphs (see `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.gated_mean import CHUNK
from graphtrial.ops.gated_mean import EPSILON as GATE_EPSILON
from graphtrial.ops.kernels.gated_mean import gated_mean, gated_mean_backward
from graphtrial.ops.kernels.graph_attention import graph_attention, graph_attention_backward
from graphtrial.ops.kernels.relu_sum import relu_sum, relu_sum_backward
from graphtrial.ops.kernels.small_matmul import add_blocks
from graphtrial.ops.kernels.spmm import spmm, spmm_max, spmm_max_backward
from graphtrial.tape.memory import integer_matrix, integers, matrix, same_place, vector


@compiled
def embed(table: Array, c: Array) -> None:
    """EMBED index, weight, out."""
    index, weight, out = integers(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
    for r in range(len(index)):
        row = weight[index[r]]
        for k in range(out.shape[1]):
            out[r, k] = row[k]


@compiled
def embed_backward(table: Array, c: Array) -> None:
    """EMBED_BACKWARD index, grad_output, grad_weight."""
    index, g, out = integers(table, c[1]), matrix(table, c[2]), matrix(table, c[3])
    out[:] = 0
    for r in range(len(index)):
        into = out[index[r]]
        for k in range(out.shape[1]):
            into[k] += g[r, k]


@compiled
def one_hot(table: Array, c: Array) -> None:
    """ONE_HOT index, out."""
    index, out = integers(table, c[1]), matrix(table, c[2])
    out[:] = 0
    for r in range(len(index)):
        out[r, index[r]] = 1


@compiled
def multiply(table: Array, c: Array, claim: Array) -> None:
    """SPMM ptr, index, perm, weight, self_weight, x, out."""
    ptr, index, weight = integers(table, c[1]), integers(table, c[2]), vector(table, c[4])
    x, out = matrix(table, c[6]), matrix(table, c[7])
    claim[0] = 0
    if c[3] < 0:
        if c[5] < 0:
            spmm(claim, True, ptr, index, None, weight, None, x, out)
        else:
            spmm(claim, True, ptr, index, None, weight, vector(table, c[5]), x, out)
    elif c[5] < 0:
        spmm(claim, True, ptr, index, integers(table, c[3]), weight, None, x, out)
    else:
        spmm(claim, True, ptr, index, integers(table, c[3]), weight, vector(table, c[5]), x, out)


@compiled
def maximum(table: Array, c: Array, claim: Array) -> None:
    """SPMM_MAX ptr, index, x, out, argmax."""
    claim[0] = 0
    ptr, index, argmax = integers(table, c[1]), integers(table, c[2]), integer_matrix(table, c[5])
    spmm_max(claim, ptr, index, matrix(table, c[3]), matrix(table, c[4]), argmax)


@compiled
def maximum_backward(table: Array, c: Array, claim: Array) -> None:
    """SPMM_MAX_BACKWARD grad_output, argmax, grad_x."""
    claim[0] = 0
    out = matrix(table, c[3])
    out[:] = 0
    spmm_max_backward(claim, matrix(table, c[1]), integer_matrix(table, c[2]), out)


@compiled
def edge_add(table: Array, c: Array) -> None:
    """EDGE_ADD source index, target index, source, target, out."""
    sender, receiver = integers(table, c[1]), integers(table, c[2])
    source, target, out = matrix(table, c[3]), matrix(table, c[4]), matrix(table, c[5])
    for e in range(len(out)):
        a, b = source[sender[e]], target[receiver[e]]
        for k in range(out.shape[1]):
            out[e, k] = a[k] + b[k]


@compiled
def sum_of_relu(table: Array, c: Array, claim: Array) -> None:
    """RELU_SUM ptr, index, x, edge, scale, out; add_self."""
    claim[0] = 0
    ptr, index = integers(table, c[1]), integers(table, c[2])
    x, edge, out = matrix(table, c[3]), matrix(table, c[4]), matrix(table, c[6])
    if c[5] < 0:
        relu_sum(claim, ptr, index, x, edge, None, c[7] == 1, out)
    else:
        relu_sum(claim, ptr, index, x, edge, vector(table, c[5]), c[7] == 1, out)


@compiled
def sum_of_relu_backward(table: Array, c: Array, claim: Array) -> None:
    """RELU_SUM_BACKWARD ptr and order of out-edges, target, x, edge, scale, grad_output, before, grad_x, grad_edge.

    `before` is added to the gradient of the edges, which may be in its place.
    """
    claim[0] = 0
    ptr, order, target = integers(table, c[1]), integers(table, c[2]), integers(table, c[3])
    x, edge, g = matrix(table, c[4]), matrix(table, c[5]), matrix(table, c[7])
    grad_x, grad_edge, add = matrix(table, c[9]), matrix(table, c[10]), c[8] >= 0
    if add and not same_place(table, c[8], c[10]):
        vector(table, c[10])[:] = vector(table, c[8])
    if c[6] < 0:
        relu_sum_backward(claim, ptr, order, target, x, edge, None, g, add, grad_x, grad_edge)
    else:
        relu_sum_backward(claim, ptr, order, target, x, edge, vector(table, c[6]), g, add, grad_x, grad_edge)


@compiled
def attend(table: Array, c: Array, claim: Array, numbers: Array, seeds: Array) -> None:
    """ATTENTION ptr, qkv; heads; number of the seed; threshold; scale (number); norm, out."""
    claim[0] = 0
    ptr, qkv, norm, out = integers(table, c[1]), matrix(table, c[2]), matrix(table, c[7]), matrix(table, c[8])
    graph_attention(claim, ptr, qkv, c[3], seeds[c[4] : c[4] + 1], c[5], numbers[c[6]], out, norm)


@compiled
def attend_backward(table: Array, c: Array, claim: Array, numbers: Array, seeds: Array) -> None:
    """ATTENTION_BACKWARD, operands as ATTENTION up to norm, then grad_output, grad_qkv."""
    claim[0] = 0
    ptr, qkv, norm = integers(table, c[1]), matrix(table, c[2]), matrix(table, c[7])
    g, into, seed = matrix(table, c[8]), matrix(table, c[9]), seeds[c[4] : c[4] + 1]
    graph_attention_backward(claim, ptr, qkv, c[3], seed, c[5], numbers[c[6]], norm, g, into)


@compiled
def mean(table: Array, c: Array, claim: Array) -> None:
    """GATED_MEAN ptr, index, source, target, edge, weight, value, logits, mean, inverse."""
    ptr, index = integers(table, c[1]), integers(table, c[2])
    source, target, value = matrix(table, c[3]), matrix(table, c[4]), matrix(table, c[7])
    logits, out, inverse = matrix(table, c[8]), matrix(table, c[9]), matrix(table, c[10])
    claim[0] = 0
    if c[5] < 0:
        gated_mean(claim, CHUNK, ptr, index, source, target, None, None, value, GATE_EPSILON, logits, out, inverse)
    else:
        edge, weight = matrix(table, c[5]), matrix(table, c[6])
        gated_mean(claim, CHUNK, ptr, index, source, target, edge, weight, value, GATE_EPSILON, logits, out, inverse)


@compiled
def mean_backward(table: Array, c: Array, claim: Array) -> None:
    """GATED_MEAN_BACKWARD groups, ptr, index, logits, edge, weight, value, mean, inverse, grad_mean, grad_logits,
    grad_edge, grad_weight, grad_target, grad_source, grad_value."""
    if c[11] < 0:
        _mean_backward(table, c, claim, None)
    else:
        _mean_backward(table, c, claim, matrix(table, c[11]))


@compiled
def _mean_backward(table: Array, c: Array, claim: Array, more: Array) -> None:
    numbers = integers(table, c[1])
    groups = numbers[1 : 1 + numbers[0]]
    ptr, index = integers(table, c[2]), integers(table, c[3])
    logits, value, out, inverse = matrix(table, c[4]), matrix(table, c[7]), matrix(table, c[8]), matrix(table, c[9])
    grad, width = matrix(table, c[10]), value.shape[1]
    grad_target, grad_source, grad_value = matrix(table, c[14]), matrix(table, c[15]), matrix(table, c[16])
    grad_source[:] = 0
    grad_value[:] = 0
    claim[0] = 0
    if c[5] < 0:
        none = np.empty((0, width), np.float32)
        gated_mean_backward(
            claim, CHUNK, groups, ptr, index, logits, None, None, value, out, inverse, grad, more, none, None,
            grad_target, grad_source, grad_value,
        )  # fmt: skip
        return
    edge, weight, grad_edge = matrix(table, c[5]), matrix(table, c[6]), matrix(table, c[12])
    parts = np.empty((len(groups) - 1, width, width), np.float32)
    gated_mean_backward(
        claim, CHUNK, groups, ptr, index, logits, edge, weight, value, out, inverse, grad, more, grad_edge, parts,
        grad_target, grad_source, grad_value,
    )  # fmt: skip
    add_blocks(parts.reshape(len(parts), width * width), vector(table, c[13]))
