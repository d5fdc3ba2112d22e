"""Matrix products of any shape against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.ops import kernels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(12, 12, 12), (13, 12, 15), (30, 17, 24), (240, 40, 33), (500, 70, 145), (97, 150, 23)]
)
def test_products_of_any_shape_equal_those_of_numpy(shape: tuple[int, int, int], dtype: type) -> None:
    rows, inner, columns = shape
    rng = np.random.default_rng(0)
    x, weight, bias = (rng.normal(size=size).astype(dtype) for size in ((rows, inner), (inner, columns), (columns,)))
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {}
    out = np.empty((rows, columns), dtype)
    kernels.matmul(x, weight, False, None, out)
    torch.testing.assert_close(torch.from_numpy(out), torch.from_numpy(x @ weight), **close)
    kernels.matmul(x, np.ascontiguousarray(weight.T), True, bias, out)
    torch.testing.assert_close(torch.from_numpy(out), torch.from_numpy(x @ weight + bias), **close)
    transposed, sums = np.ones((inner, columns), dtype), np.ones(inner, dtype)
    kernels.matmul_transposed(x, out, transposed, sums)
    torch.testing.assert_close(torch.from_numpy(transposed), torch.from_numpy(1 + x.T @ out), **close)
    torch.testing.assert_close(torch.from_numpy(sums), torch.from_numpy(1 + x.sum(axis=0)), **close)
