"""CPU kernels over sorted edges, compiled by numba at first use and kept on disk between processes.

Each walks the rows of a sparse matrix in order and the features of a row in the inner loop, which the compiler turns
into vector instructions. Sums are taken in a fixed order, so results depend on nothing but the input. A matrix in
compressed rows is given by `ptr` [rows + 1] and `index` [entries], the column of each entry; `order` [entries] says
where the values of an entry are kept, or None where they are kept in order.
"""

from __future__ import annotations

import numpy as np

from graphtrial.ops.kernels.attention import (
    attend,
    attend_backward,
    heads_to_lanes,
    softmax,
    softmax_backward,
)
from graphtrial.ops.kernels.gates import gated_rows, gated_rows_backward
from graphtrial.ops.kernels.noise import keep_or_drop
from graphtrial.ops.kernels.norms import column_moments, norm, norm_backward, unit_rows, unit_rows_backward
from graphtrial.ops.kernels.products import multiply, multiply_turned
from graphtrial.ops.kernels.sums import entry_dot, maximum, maximum_backward, weighted_sum, weighted_sum_heads

__all__ = [
    "attend",
    "attend_backward",
    "column_moments",
    "entry_dot",
    "gated_rows",
    "gated_rows_backward",
    "heads_to_lanes",
    "keep_or_drop",
    "maximum",
    "maximum_backward",
    "multiply",
    "multiply_turned",
    "norm",
    "norm_backward",
    "softmax",
    "softmax_backward",
    "unit_rows",
    "unit_rows_backward",
    "warm_up",
    "weighted_sum",
    "weighted_sum_heads",
]


def warm_up() -> None:
    """Compile every kernel for single precision, or load it from disk, without touching torch."""
    ptr, index = np.array([0, 1, 2]), np.array([1, 0])
    x, heads, edge = np.ones((2, 3), np.float32), np.ones((2, 2, 3), np.float32), np.ones((2, 3), np.float32)
    flat, score = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    row, columns, running = np.ones(3, np.float32), np.ones((4, 3), np.float32), np.ones((2, 3), np.float32)
    for order in (None, index):
        for own in (None, flat):
            weighted_sum(ptr, index, order, flat, own, x, x.copy())
        weighted_sum_heads(ptr, index, order, score, heads, heads.copy())
    entry_dot(ptr, index, heads, heads, score.copy())
    winner = np.zeros((2, 3), np.int64)
    maximum(ptr, index, x, x.copy(), winner)
    maximum_backward(x, winner, x.copy())
    softmax(ptr, score, score.copy())
    softmax_backward(ptr, score, score, score.copy())
    lanes, scores, share = np.ones(48, np.float32), np.ones((2, 16), np.float32), np.ones(16, np.float32)
    heads_to_lanes(heads, heads[0], heads[0], lanes, *scores)
    attend(ptr, index, lanes, *scores, 0.2, share, heads.copy())
    weights = np.stack([heads[0]] * 2)
    attend_backward(ptr, index, heads, lanes, *scores, 0.2, share, weights, 1, heads.copy(), weights.copy())
    gated_rows(ptr, index, x, x, x, True, 1e-6, edge.copy(), edge.copy(), x.copy(), x.copy())
    for extra in (None, edge):
        room = edge.copy(), row.copy(), edge.copy()
        gated_rows_backward(ptr, index, edge, x, x, x, x, extra, *room, x.copy(), x.copy(), x.copy())
    many = np.ones((12, 12), np.float32)
    for turned, bias in ((True, None), (True, many[0]), (False, None)):
        multiply(many, many, turned, bias, many.copy())
    for sums in (None, many[0].copy()):
        multiply_turned(many, many, many.copy(), sums)
    for residual in (None, x):
        norm(x, row, row, 1e-5, 1, residual, columns, running, x.copy())
    norm_backward(x, x, 1, columns, x.copy(), row.copy(), row.copy())
    keep_or_drop(index, 1, 1.0, flat.copy())
    unit_rows(x, 1e-12, x.copy(), flat)
    unit_rows_backward(x, x, flat, 1e-12, x.copy())
