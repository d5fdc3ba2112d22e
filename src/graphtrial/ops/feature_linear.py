"""Linear layer for sparse input features, such as bags of words."""

from __future__ import annotations

from collections.abc import MutableMapping

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from graphtrial.ops.dropout import dropout
from graphtrial.ops.linear import linear
from graphtrial.ops.portable import uses_kernels
from graphtrial.ops.sparse_matrix import SparseMatrix
from graphtrial.ops.spmm import spmm

MIN_WIDTH, MAX_DENSITY = 128, 0.15
"""Narrower or denser features are multiplied as a dense matrix."""

# Version of a feature tensor and its sparse form; the features of a graph are the same tensor at every step.
_cache: MutableMapping[Tensor, tuple[int, tuple[SparseMatrix, Tensor] | None]] = WeakTensorKeyDictionary()


def feature_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, p: float = 0.0) -> Tensor:
    """Return `dropout(x, p) @ weight.T + bias` for input features `x`, which get no gradient.

    x: [nodes, inputs], weight: [outputs, inputs], bias: [outputs] -> [nodes, outputs]. Wide and sparse features are
    multiplied as a sparse matrix, with a dropout mask for their nonzero values alone.
    """
    sparse = sparse_features(x)
    if sparse is None:
        return linear(dropout(x, p), weight, bias)
    matrix, values = sparse
    out = spmm(matrix, weight.t().contiguous(), dropout(values, p))
    return out if bias is None else out + bias


def sparse_features(x: Tensor) -> tuple[SparseMatrix, Tensor] | None:
    """Return `x` as a sparse matrix and its values, or None where it is narrow or dense; cached by tensor."""
    if x.shape[1] < MIN_WIDTH or not uses_kernels(x) or torch.is_autocast_enabled("cpu"):
        return None
    version, sparse = _cache.get(x, (None, None))
    if version != x._version:
        sparse = _to_sparse(x)
        _cache[x] = x._version, sparse
    return sparse


def _to_sparse(x: Tensor) -> tuple[SparseMatrix, Tensor] | None:
    if int(x.count_nonzero()) > MAX_DENSITY * x.numel():
        return None
    row, column = x.nonzero(as_tuple=True)
    return SparseMatrix.from_coo(row, column, *x.shape), x[row, column]
