"""Gram matrices from sparse features: linear kernel, histogram intersection kernel, cosine normalization."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]
DENSE_FRACTION = 0.02
"""Columns with a larger fraction of nonzeros are multiplied as dense blocks."""
DENSE_ELEMENTS = 30_000_000
"""Maximum number of elements of a dense block."""
ROW_BLOCK = 256
"""Rows per block, so that temporaries stay small compared with the result."""


def counts(rows: Array, columns: Array, shape: tuple[int, int], weight: Array | None = None) -> sparse.csr_matrix:
    """Return a sparse matrix of the counts (or sums of weights) of each (row, column) pair."""
    keys = rows.astype(np.int64) * shape[1] + columns
    unique, inverse = np.unique(keys, return_inverse=True)
    values = np.bincount(inverse.reshape(-1), weights=weight, minlength=len(unique)).astype(np.float64)
    return sparse.csr_matrix((values, (unique // shape[1], unique % shape[1])), shape=shape)


def dot_products(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Array:
    """Return left @ right.T as a dense matrix: dense products for frequent columns, sparse ones for the rest.

    For `left is right` only the upper triangle is computed. Integer counts whose products are exact in single
    precision are multiplied in single precision, which takes half the time.
    """
    same = left is right
    precision = np.float32 if _is_exact_in_single(left) and (same or _is_exact_in_single(right)) else np.float64
    fraction = (left.getnnz(axis=0) + right.getnnz(axis=0)) / max(1, left.shape[0] + right.shape[0])
    common, rare = (
        np.flatnonzero(fraction > DENSE_FRACTION),
        np.flatnonzero((fraction > 0) & (fraction <= DENSE_FRACTION)),
    )
    gram: Array = (left[:, rare] @ right[:, rare].T).toarray()
    step = max(1, DENSE_ELEMENTS // max(1, left.shape[0] + right.shape[0]))
    for begin in range(0, len(common), step):
        block = common[begin : begin + step]
        one = left[:, block].astype(precision).toarray()
        other = one.T if same else right[:, block].astype(precision).toarray().T
        for first in range(0, len(one), ROW_BLOCK):
            start = first if same else 0
            gram[first : first + ROW_BLOCK, start:] += one[first : first + ROW_BLOCK] @ other[:, start:]
    if same and len(common):
        for first in range(0, len(gram), ROW_BLOCK):
            gram[first + ROW_BLOCK :, first : first + ROW_BLOCK] = gram[
                first : first + ROW_BLOCK, first + ROW_BLOCK :
            ].T
    return gram


def intersections(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Array:
    """Return the histogram intersection kernel: the sum over columns of min(left, right) for each pair of rows."""
    gram = np.zeros((left.shape[0], right.shape[0]))
    a, b = left.tocsc(), right.tocsc()
    _add_minima(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, gram)
    return gram


def normalised(gram: Array, left: Array, right: Array) -> Array:
    """Cosine-normalize a Gram matrix in place: k(x, y) / sqrt(k(x, x) k(y, y)), or 0 where the denominator is 0.

    `left` and `right` are the diagonals k(x, x) of the rows and k(y, y) of the columns.
    """
    for first in range(0, len(gram), ROW_BLOCK):
        part = gram[first : first + ROW_BLOCK]
        scale = np.sqrt(np.outer(left[first : first + ROW_BLOCK], right))
        np.divide(part, scale, out=part, where=scale > 0)
        part[scale == 0] = 0.0
    return gram


def _is_exact_in_single(counts: sparse.csr_matrix) -> bool:
    """Return whether all values are integers and all dot products of rows are below 2^24 (Cauchy-Schwarz)."""
    largest = counts.multiply(counts).sum(axis=1).max() if counts.nnz else 0.0
    return bool(largest < 2**24 and np.array_equal(counts.data, np.rint(counts.data)))


@compiled
def _add_minima(a_ptr: Any, a_row: Any, a: Any, b_ptr: Any, b_row: Any, b: Any, gram: Any) -> None:
    for column in range(len(a_ptr) - 1):
        for i in range(a_ptr[column], a_ptr[column + 1]):
            row, value = a_row[i], a[i]
            for j in range(b_ptr[column], b_ptr[column + 1]):
                gram[row, b_row[j]] += min(value, b[j])
