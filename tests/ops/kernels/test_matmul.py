"""Matrix products of any shape against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.core.hardware.threads import run
from graphtrial.ops import kernels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(12, 12, 12), (13, 12, 15), (30, 17, 24), (240, 40, 33), (500, 70, 145), (97, 150, 23)]
)
def test_products_of_any_shape_match_numpy(shape: tuple[int, int, int], dtype: type) -> None:
    rows, inner, columns = shape
    rng = np.random.default_rng(0)
    x, weight, bias = (rng.normal(size=size).astype(dtype) for size in ((rows, inner), (inner, columns), (columns,)))
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {}
    out = np.empty((rows, columns), dtype)
    run(kernels.matmul, 0, x, weight, False, None, out)
    torch.testing.assert_close(torch.from_numpy(out), torch.from_numpy(x @ weight), **close)
    run(kernels.matmul, 0, x, np.ascontiguousarray(weight.T), True, bias, out)
    torch.testing.assert_close(torch.from_numpy(out), torch.from_numpy(x @ weight + bias), **close)
    transposed, sums = np.empty((2, inner, columns), dtype), np.empty((2, inner), dtype)
    run(kernels.matmul_transposed, 0, x, out, transposed, sums)
    torch.testing.assert_close(torch.from_numpy(transposed.sum(0)), torch.from_numpy(x.T @ out), **close)
    torch.testing.assert_close(torch.from_numpy(sums.sum(0)), torch.from_numpy(x.sum(axis=0)), **close)
