"""Products with joined matrices have the bits of products with their concatenation."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.core.hardware.threads import run
from graphtrial.ops.kernels.joined_matmul import (
    joined_matmul,
    joined_matmul_input,
    joined_matmul_weight,
    started_matmul,
)
from graphtrial.ops.kernels.matmul import matmul, matmul_transposed

TYPES = 28


@pytest.mark.parametrize(
    "shape",
    [(12, 13, 20, 30), (13, 40, 37, 12), (241, 24, 24, 24), (500, 12, 70, 20), (479, 108, 108, 145), (721, 3, 9, 15)],
)
def test_products_have_the_bits_of_the_concatenation(shape: tuple[int, int, int, int]) -> None:
    rows, left, right, outputs = shape
    rng = np.random.default_rng(0)

    def normal(*size: int) -> np.ndarray:
        return rng.normal(size=size).astype(np.float32)

    index, table = rng.integers(0, TYPES, rows), normal(TYPES, left)
    a, b, weight, bias, g = (
        table[index],
        normal(rows, right),
        normal(outputs, left + right),
        normal(outputs),
        normal(rows, outputs),
    )
    x = np.concatenate([a, b], axis=1)
    expected, out = np.empty((rows, outputs), np.float32), np.empty((rows, outputs), np.float32)
    run(matmul, 0, x, weight, True, bias, expected)
    run(joined_matmul, 0, a, b, weight, bias, out)
    np.testing.assert_array_equal(out, expected)
    start = np.empty((TYPES, outputs), np.float32)
    run(matmul, 0, table, weight[:, :left].copy(), True, bias, start)
    run(started_matmul, 0, index, start, b, weight, out)
    np.testing.assert_array_equal(out, expected)

    grad, grad_a, grad_b = np.empty_like(x), np.empty_like(a), np.empty_like(b)
    run(matmul, 0, g, weight, False, None, grad)
    run(joined_matmul_input, 0, g, weight, grad_a, grad_b)
    np.testing.assert_array_equal(np.concatenate([grad_a, grad_b], axis=1), grad)
    for blocks in (1, 3):
        grads, sums = np.empty((2, blocks, *weight.shape), np.float32), np.empty((2, blocks, outputs), np.float32)
        run(matmul_transposed, 0, g, x, grads[0], sums[0])
        run(joined_matmul_weight, 0, g, a, b, grads[1], sums[1])
        np.testing.assert_array_equal(grads[1], grads[0])
        np.testing.assert_array_equal(sums[1], sums[0])
