"""Gram matrices from explicit features: dot products, histogram intersections, and the cosine normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]
COMMON = 0.02
"""A column that more than this share of the rows have is cheaper in a dense product."""
DENSE_NUMBERS = 30_000_000
"""The numbers of one dense block."""
ROWS = 256
"""Rows that are worked on at once, so that nothing but the result is as large as the result."""


def counts(rows: Array, columns: Array, shape: tuple[int, int], weight: Array | None = None) -> sparse.csr_matrix:
    """Return how often (or with what sum of weights) each pair of row and column occurs, as a matrix."""
    keys = rows.astype(np.int64) * shape[1] + columns
    unique, inverse = np.unique(keys, return_inverse=True)
    values = np.bincount(inverse.reshape(-1), weights=weight, minlength=len(unique)).astype(np.float64)
    return sparse.csr_matrix((values, (unique // shape[1], unique % shape[1])), shape=shape)


def dot_products(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Array:
    """Return left @ right.T as a dense matrix; common columns go through dense products, rare ones through sparse.

    Of a matrix with itself one half is computed. Counts that are small enough to stay exact are multiplied in single
    precision, which takes half the time.
    """
    same = left is right
    precision = np.float32 if _is_exact_in_single(left) and (same or _is_exact_in_single(right)) else np.float64
    share = (left.getnnz(axis=0) + right.getnnz(axis=0)) / max(1, left.shape[0] + right.shape[0])
    common, rare = np.flatnonzero(share > COMMON), np.flatnonzero((share > 0) & (share <= COMMON))
    gram = (left[:, rare] @ right[:, rare].T).toarray()
    step = max(1, DENSE_NUMBERS // max(1, left.shape[0] + right.shape[0]))
    for begin in range(0, len(common), step):
        block = common[begin : begin + step]
        one = left[:, block].astype(precision).toarray()
        other = one.T if same else right[:, block].astype(precision).toarray().T
        for first in range(0, len(one), ROWS):
            start = first if same else 0
            gram[first : first + ROWS, start:] += one[first : first + ROWS] @ other[:, start:]
    if same and len(common):
        for first in range(0, len(gram), ROWS):
            gram[first + ROWS :, first : first + ROWS] = gram[first : first + ROWS, first + ROWS :].T
    return gram


def intersections(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Array:
    """Return the sum over columns of min(left, right) for each pair of rows."""
    gram = np.zeros((left.shape[0], right.shape[0]))
    a, b = left.tocsc(), right.tocsc()
    _add_minima(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, gram)
    return gram


def normalised(gram: Array, left: Array, right: Array) -> Array:
    """Turn k(x, y) into k(x, y) / sqrt(k(x, x) k(y, y)), given k of each row and column with itself; 0 where that is 0.

    The matrix given is overwritten and returned.
    """
    for first in range(0, len(gram), ROWS):
        part = gram[first : first + ROWS]
        scale = np.sqrt(np.outer(left[first : first + ROWS], right))
        np.divide(part, scale, out=part, where=scale > 0)
        part[scale == 0] = 0.0
    return gram


def _is_exact_in_single(counts: sparse.csr_matrix) -> bool:
    """Tell whether all are integers and no dot product of two rows exceeds what single precision counts to."""
    largest = counts.multiply(counts).sum(axis=1).max() if counts.nnz else 0.0  # Cauchy and Schwarz
    return bool(largest < 2**24 and np.array_equal(counts.data, np.rint(counts.data)))


@compiled
def _add_minima(a_ptr: Any, a_row: Any, a: Any, b_ptr: Any, b_row: Any, b: Any, gram: Any) -> None:
    for column in range(len(a_ptr) - 1):
        for i in range(a_ptr[column], a_ptr[column + 1]):
            row, value = a_row[i], a[i]
            for j in range(b_ptr[column], b_ptr[column + 1]):
                gram[row, b_row[j]] += min(value, b[j])
