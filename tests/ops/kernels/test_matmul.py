"""Matrix products of any shape against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.core.hardware.threads import run
from graphtrial.ops import kernels
from graphtrial.ops.kernels.matmul import matmul_with_epilogue
from graphtrial.ops.kernels.matmul_tile import Add, Relu


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


@pytest.mark.parametrize("shape", [(12, 12, 12), (13, 12, 15), (500, 70, 145), (97, 150, 23), (250, 80, 160)])
@pytest.mark.parametrize("epilogue", [None, Relu, Add])
def test_an_epilogue_has_the_bits_of_a_pass_of_its_own(
    shape: tuple[int, int, int], epilogue: type[Relu] | type[Add] | None
) -> None:
    rows, inner, columns = shape
    rng = np.random.default_rng(0)
    x, weight = (rng.normal(size=size).astype(np.float32) for size in ((rows, inner), (inner, columns)))
    other = rng.normal(size=(rows, columns)).astype(np.float32)
    x[3], x[5, 0], other[1, :4] = 0, np.nan, (0.0, -0.0, np.nan, 1e-40)
    plain, out = np.empty((2, rows, columns), np.float32)
    run(kernels.matmul, 0, x, weight, False, None, plain)
    after = None if epilogue is None else epilogue(other.reshape(-1))
    matmul_with_epilogue(np.zeros(1, np.int64), x, weight, False, None, out, after)
    expected = {None: plain, Relu: np.where(plain < 0, np.float32(0), plain), Add: other + plain}[epilogue]
    assert np.isnan(plain[5]).all()
    np.testing.assert_array_equal(out.view(np.int32), expected.view(np.int32))
