"""Linear maps of features of which most are 0, such as the words of an article."""

from __future__ import annotations

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from graphtrial.ops.csr import CSR
from graphtrial.ops.dropout import dropout
from graphtrial.ops.linear import linear
from graphtrial.ops.spmm import weighted_sum

WIDE, SPARSE = 128, 0.15
"""Features of fewer columns, or with a larger share of numbers other than 0, are multiplied as they are."""

_seen: WeakTensorKeyDictionary = WeakTensorKeyDictionary()  # the features of a graph are the same ones at every step


def feature_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, share: float = 0.0) -> Tensor:
    """Return the product of x, a share of it dropped, with weight.T, and the bias added. No gradient flows to x.

    x: [nodes, inputs], weight: [outputs, inputs], bias: [outputs] -> [nodes, outputs]. Where x is wide and mostly 0, it
    is multiplied as a sparse matrix, and random numbers are drawn for what is not 0 alone.
    """
    found = sparse_features(x)
    if found is None:
        return linear(dropout(x, share), weight, bias)
    matrix, values = found
    out = weighted_sum(matrix, weight.t().contiguous(), dropout(values, share))
    return out if bias is None else out + bias


def sparse_features(x: Tensor) -> tuple[CSR, Tensor] | None:
    """Return x as a sparse matrix and its values, or None if that is no gain; a tensor is looked at only once."""
    if x.device.type != "cpu" or x.shape[1] < WIDE:
        return None
    version, found = _seen.get(x, (None, None))
    if version != x._version:
        found = _compressed(x)
        _seen[x] = x._version, found
    return found


def _compressed(x: Tensor) -> tuple[CSR, Tensor] | None:
    if int(x.count_nonzero()) > SPARSE * x.numel():
        return None
    row, column = x.nonzero(as_tuple=True)
    return CSR.of_entries(row, column, *x.shape), x[row, column]
