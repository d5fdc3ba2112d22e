"""CPU kernels over sorted edges, compiled by numba at first use and cached on disk.

Each loops over the rows of a sparse matrix in order and over the features of a row in the inner loop, which the
compiler vectorises. Sums are taken in a fixed order, so that results are deterministic. A CSR matrix is given by `ptr`
[rows + 1] and `index` [entries], the column of each entry; `perm` [entries] is the position of the value of each entry,
None for the identity.
"""

from __future__ import annotations

import numpy as np

from graphtrial.ops.kernels.attention import BLOCK as ATTENTION_BLOCK
from graphtrial.ops.kernels.attention import (
    add_attention_blocks,
    gat_attention,
    gat_gradients,
    gat_score_gradients,
    heads_to_lanes,
)
from graphtrial.ops.kernels.batch_norm import (
    batch_norm,
    batch_norm_backward,
    batch_norm_coefficients,
    column_moments,
    gradient_coefficients,
    gradient_sums,
)
from graphtrial.ops.kernels.clamped_attention import (
    clamped_attention,
    clamped_attention_key,
    clamped_attention_query,
    interleave_heads,
    separate_heads,
)
from graphtrial.ops.kernels.dropout import dropout
from graphtrial.ops.kernels.edge_scores import BLOCK as SCORES_BLOCK
from graphtrial.ops.kernels.edge_scores import edge_score_gradients, edge_scores, node_scores
from graphtrial.ops.kernels.gated_mean import gated_mean, gated_mean_backward
from graphtrial.ops.kernels.graph_attention import graph_attention, graph_attention_backward
from graphtrial.ops.kernels.l2_normalize import l2_normalize, l2_normalize_backward
from graphtrial.ops.kernels.matmul import matmul, matmul_transposed
from graphtrial.ops.kernels.mixture import BLOCK as GAUSSIAN_BLOCK
from graphtrial.ops.kernels.mixture import (
    add_gaussian_blocks,
    gaussian_gradients,
    gaussian_weights,
    mixture_sum,
    mixture_sum_input,
    mixture_sum_weight,
)
from graphtrial.ops.kernels.modulated_relu import modulated_relu, modulated_relu_backward
from graphtrial.ops.kernels.multi_aggregate import multi_aggregate, multi_aggregate_backward
from graphtrial.ops.kernels.relu_sum import relu_sum, relu_sum_backward
from graphtrial.ops.kernels.row_chunks import independent_rows
from graphtrial.ops.kernels.small_matmul import (
    add_blocks,
    column_sums,
    running_coefficients,
    small_matmul,
    small_matmul_transposed,
    total_product,
    update_statistics,
)
from graphtrial.ops.kernels.softmax import softmax, softmax_backward
from graphtrial.ops.kernels.spmm import sddmm, spmm, spmm_heads, spmm_max, spmm_max_backward
from graphtrial.ops.kernels.towers import tower_matmul, tower_matmul_weight

__all__ = [
    "ATTENTION_BLOCK",
    "GAUSSIAN_BLOCK",
    "SCORES_BLOCK",
    "add_attention_blocks",
    "add_blocks",
    "add_gaussian_blocks",
    "batch_norm",
    "batch_norm_backward",
    "batch_norm_coefficients",
    "clamped_attention",
    "clamped_attention_key",
    "clamped_attention_query",
    "column_moments",
    "column_sums",
    "dropout",
    "edge_score_gradients",
    "edge_scores",
    "gat_attention",
    "gat_gradients",
    "gat_score_gradients",
    "gated_mean",
    "gated_mean_backward",
    "gaussian_gradients",
    "gaussian_weights",
    "gradient_coefficients",
    "gradient_sums",
    "graph_attention",
    "graph_attention_backward",
    "heads_to_lanes",
    "independent_rows",
    "interleave_heads",
    "l2_normalize",
    "l2_normalize_backward",
    "matmul",
    "matmul_transposed",
    "mixture_sum",
    "mixture_sum_input",
    "mixture_sum_weight",
    "modulated_relu",
    "modulated_relu_backward",
    "multi_aggregate",
    "multi_aggregate_backward",
    "node_scores",
    "relu_sum",
    "relu_sum_backward",
    "running_coefficients",
    "sddmm",
    "separate_heads",
    "small_matmul",
    "small_matmul_transposed",
    "softmax",
    "softmax_backward",
    "spmm",
    "spmm_heads",
    "spmm_max",
    "spmm_max_backward",
    "total_product",
    "tower_matmul",
    "tower_matmul_weight",
    "update_statistics",
    "warm_up",
]


def warm_up() -> None:
    """Compile every kernel for single precision, or load it from disk, without touching torch."""
    ptr, index, claim = np.array([0, 1, 2]), np.array([1, 0]), np.full(1, 1 << 20)
    x, heads, edge = np.ones((2, 3), np.float32), np.ones((2, 2, 3), np.float32), np.ones((2, 3), np.float32)
    flat, score = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    row, columns, statistics = np.ones(3, np.float32), np.ones((4, 3), np.float32), np.ones((2, 3), np.float32)
    for perm in (None, index):
        for self_weight in (None, flat):
            spmm(claim, True, ptr, index, perm, flat, self_weight, x, x)
        spmm_heads(claim, True, ptr, index, perm, score, heads, heads)
    sddmm(claim, ptr, index, heads, heads, score)
    argmax = np.zeros((2, 3), np.int64)
    spmm_max(claim, ptr, index, x, x, argmax)
    spmm_max_backward(claim, x, argmax, x)
    for weights in (None, flat):
        relu_sum(claim, ptr, index, x, edge, weights, False, x)
        relu_sum_backward(claim, ptr, index, index, x, edge, weights, x, False, x, edge)
    towers, stacked = np.ones((2, 1, 3), np.float32), np.ones((2, 1, 1, 3), np.float32)
    for edges in (None, edge):
        multi_aggregate(claim, ptr, index, towers, towers, edges, 1, 1e-5, stacked)
        multi_aggregate_backward(
            claim, ptr, index, towers, towers, edges, 1, 1e-5, stacked, stacked, edge, towers.copy()
        )
    softmax(claim, ptr, score, score)
    softmax_backward(claim, ptr, score, score, score)
    node_scores(claim, heads, heads[0], heads[0], heads.copy())
    edge_scores(claim, ptr, index, heads, 0.2, score)
    scored = score, score, 0.2, heads, heads[0], heads[0]
    edge_score_gradients(claim, ptr, ptr, index, *scored, heads, np.ones((2, 1, 6), np.float32))
    gaussian_weights(claim, ptr, index, score, flat, score, score, score, score)
    partial = np.ones((1, 14))
    gaussian_gradients(claim, ptr, index, score, score, score, score, score, partial)
    add_gaussian_blocks(partial, score.reshape(-1), flat, score.reshape(-1), score.reshape(-1))
    mixture_sum(claim, True, ptr, index, score, heads, x)
    mixture_sum_input(claim, True, ptr, index, index, score, x, heads)
    mixture_sum_weight(claim, ptr, index, x, heads, score)
    lanes, scores, alpha = np.ones(48, np.float32), np.ones((2, 16), np.float32), np.ones(16, np.float32)
    source, target = scores
    heads_to_lanes(claim, heads, heads[0], heads[0], lanes, source, target)
    gat_attention(claim, ptr, index, lanes, source, target, 0.2, alpha, heads)
    gat_score_gradients(claim, ptr, index, heads, lanes, source, target, 0.2, alpha, lanes, alpha, source)
    sums = np.ones((1, 48), np.float32)
    gat_gradients(claim, ptr, index, index, lanes, alpha, heads, lanes, alpha, source, heads, sums)
    add_attention_blocks(sums, heads.copy())
    eight, pairs = np.ones((2, 8), np.float32), np.ones((4, 8), np.float32)
    interleave_heads(claim, heads, eight[:, :6].copy())
    separate_heads(claim, eight[:, :6].copy(), heads)
    for edges in (None, eight):
        clamped_attention(claim, 4, 5.0, ptr, index, eight, eight, eight, edges, eight, eight, eight)
        inputs = eight, eight, eight, edges, eight, eight, eight, eight, edges, pairs
        clamped_attention_query(claim, 4, 5.0, ptr, index, *inputs)
        clamped_attention_key(claim, ptr, index, index, eight, edges, eight, pairs, eight, eight)
    many = np.ones((12, 12), np.float32)
    norms = np.ones((12, 8), np.float32)
    graph_attention(claim, ptr, many, 4, index, -1, 1.0, many[:, :4].copy(), norms)
    graph_attention_backward(claim, ptr, many, 4, index, -1, 1.0, norms, many[:, :4].copy(), many)
    groups, blocks = independent_rows(ptr, index), many[None]
    for edges, weight in ((None, None), (edge, None), (edge, many)):
        gated_mean(claim, 2048, ptr, index, x, x, edges, weight, x, 1e-6, edge, x, x)
        for grad_logits in (None, edge):
            grads = x, grad_logits, edge, None if weight is None else blocks
            gated_mean_backward(claim, 2048, groups, ptr, index, edge, edges, weight, x, x, x, *grads, x, x, x)
    for transposed, bias in ((True, None), (True, many[0]), (False, None)):
        matmul(claim, many, many, transposed, bias, many)
        tower_matmul(claim, many, blocks, transposed, bias, many)
    matmul_transposed(claim, many, many, blocks, many)
    tower_matmul_weight(claim, many, many, blocks)
    for transposed, bias in ((True, None), (True, flat), (False, None)):
        small_matmul(score, score, transposed, bias, score)
    small_matmul_transposed(score, score, score.copy(), flat)
    column_sums(x, row)
    add_blocks(x, row)
    total_product(x, x, flat)
    moments = np.ones((1, 2, 3))
    column_moments(claim, x, row, moments)
    batch_norm_coefficients(2, row, moments, row, row, 1e-5, columns, statistics)
    update_statistics(statistics, 0.1, row, row)
    running_coefficients(row, row, row, row, 1e-5, columns)
    for residual in (None, x):
        batch_norm(claim, x, 1, residual, columns, x)
    gradient_sums(claim, x, x, 1, columns, moments)
    gradient_coefficients(2, moments, columns, columns.copy(), row, row)
    batch_norm_backward(claim, x, x, 1, columns, x)
    for values in (None, flat):
        dropout(claim, index, 1, 1.0, values, flat)
    modulation = np.ones((2, 6), np.float32)
    modulated_relu(claim, x, modulation, x)
    modulated_relu_backward(claim, x, x, modulation, x, x, modulation)
    l2_normalize(claim, x, 1e-12, x, flat)
    l2_normalize_backward(claim, x, x, flat, 1e-12, x)
