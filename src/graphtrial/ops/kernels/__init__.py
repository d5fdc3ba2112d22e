"""CPU kernels over sorted edges, compiled by numba at first use and cached on disk.

Each loops over the rows of a sparse matrix in order and over the features of a row in the inner loop, which the
compiler vectorises. Sums are taken in a fixed order, so that results are deterministic. A CSR matrix is given by `ptr`
[rows + 1] and `index` [entries], the column of each entry; `perm` [entries] is the position of the value of each entry,
None for the identity.
"""

from __future__ import annotations

import numpy as np

from graphtrial.ops.kernels.attention import (
    gat_attention,
    gat_attention_backward,
    heads_to_lanes,
    softmax,
    softmax_backward,
)
from graphtrial.ops.kernels.batch_norm import batch_norm, batch_norm_backward, column_moments
from graphtrial.ops.kernels.dropout import dropout_mask
from graphtrial.ops.kernels.gated_mean import gated_mean, gated_mean_backward
from graphtrial.ops.kernels.l2_normalize import l2_normalize, l2_normalize_backward
from graphtrial.ops.kernels.matmul import matmul, matmul_transposed
from graphtrial.ops.kernels.spmm import sddmm, spmm, spmm_heads, spmm_max, spmm_max_backward

__all__ = [
    "batch_norm",
    "batch_norm_backward",
    "column_moments",
    "dropout_mask",
    "gat_attention",
    "gat_attention_backward",
    "gated_mean",
    "gated_mean_backward",
    "heads_to_lanes",
    "l2_normalize",
    "l2_normalize_backward",
    "matmul",
    "matmul_transposed",
    "sddmm",
    "softmax",
    "softmax_backward",
    "spmm",
    "spmm_heads",
    "spmm_max",
    "spmm_max_backward",
    "warm_up",
]


def warm_up() -> None:
    """Compile every kernel for single precision, or load it from disk, without touching torch."""
    ptr, index = np.array([0, 1, 2]), np.array([1, 0])
    x, heads, edge = np.ones((2, 3), np.float32), np.ones((2, 2, 3), np.float32), np.ones((2, 3), np.float32)
    flat, score = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    row, columns, statistics = np.ones(3, np.float32), np.ones((4, 3), np.float32), np.ones((2, 3), np.float32)
    for perm in (None, index):
        for self_weight in (None, flat):
            spmm(ptr, index, perm, flat, self_weight, x, x.copy())
        spmm_heads(ptr, index, perm, score, heads, heads.copy())
    sddmm(ptr, index, heads, heads, score.copy())
    argmax = np.zeros((2, 3), np.int64)
    spmm_max(ptr, index, x, x.copy(), argmax)
    spmm_max_backward(x, argmax, x.copy())
    softmax(ptr, score, score.copy())
    softmax_backward(ptr, score, score, score.copy())
    lanes, scores, alpha = np.ones(48, np.float32), np.ones((2, 16), np.float32), np.ones(16, np.float32)
    source, target = scores
    heads_to_lanes(heads, heads[0], heads[0], lanes, source, target)
    gat_attention(ptr, index, lanes, source, target, 0.2, alpha, heads.copy())
    weights = np.stack([heads[0]] * 2)
    grads = heads.copy(), weights.copy()
    gat_attention_backward(ptr, index, heads, lanes, source, target, 0.2, alpha, weights, 1, *grads)
    gated_mean(ptr, index, x, x, x, True, 1e-6, edge.copy(), edge.copy(), x.copy(), x.copy())
    for grad_logits in (None, edge):
        buffers = edge.copy(), row.copy(), edge.copy()
        gated_mean_backward(ptr, index, edge, x, x, x, x, grad_logits, *buffers, x.copy(), x.copy(), x.copy())
    many = np.ones((12, 12), np.float32)
    for transposed, bias in ((True, None), (True, many[0]), (False, None)):
        matmul(many, many, transposed, bias, many.copy())
    for sums in (None, many[0].copy()):
        matmul_transposed(many, many, many.copy(), sums)
    for residual in (None, x):
        batch_norm(x, row, row, 1e-5, 1, residual, columns, statistics, x.copy())
    batch_norm_backward(x, x, 1, columns, x.copy(), row.copy(), row.copy())
    dropout_mask(index, 1, 1.0, flat.copy())
    l2_normalize(x, 1e-12, x.copy(), flat)
    l2_normalize_backward(x, x, flat, 1e-12, x.copy())
