"""Products and sums by plain loops against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.ops import kernels

SHAPES = [(5, 146, 73), (20, 110, 6), (300, 3, 110), (1, 1, 70), (250, 11, 9), (0, 4, 5)]


def matrix(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


@pytest.mark.parametrize(("rows", "inner", "columns"), SHAPES)
def test_products_are_numpys(rows: int, inner: int, columns: int) -> None:
    x, weight, bias = matrix(rows, inner, 0), matrix(columns, inner, 1), matrix(1, columns, 2)[0]
    out = np.empty((rows, columns), np.float32)
    kernels.small_matmul(x, weight, True, bias, out)
    np.testing.assert_allclose(out, x.astype(float) @ weight.T + bias, rtol=1e-5, atol=1e-4)
    kernels.small_matmul(x, np.ascontiguousarray(weight.T), False, None, out)
    np.testing.assert_allclose(out, x.astype(float) @ weight.T, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("rows", "left", "right"), SHAPES)
def test_transposed_products_and_sums_are_numpys(rows: int, left: int, right: int) -> None:
    g, x = matrix(rows, left, 0), matrix(rows, right, 1)
    out, sums = np.empty((left, right), np.float32), np.empty(left, np.float32)
    kernels.small_matmul_transposed(g, x, out, sums)
    np.testing.assert_allclose(out, g.astype(float).T @ x, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(sums, g.astype(float).sum(0), rtol=1e-5, atol=1e-4)


def test_sums_of_blocks_and_products_are_numpys() -> None:
    blocks, other, total = matrix(16, 33, 0), matrix(16, 33, 1), np.empty(1, np.float32)
    out = np.empty(33, np.float32)
    kernels.add_blocks(blocks, out)
    np.testing.assert_allclose(out, blocks.astype(float).sum(0), rtol=1e-5, atol=1e-5)
    kernels.total_product(blocks, other, total)
    np.testing.assert_allclose(total, (blocks.astype(float) * other).sum(), rtol=1e-5, atol=1e-5)


def test_the_sum_of_no_blocks_is_zero() -> None:
    out = np.ones(6, np.float32)
    kernels.add_blocks(np.full((1, 6), np.nan, np.float32)[:0], out)
    assert not out.any()
