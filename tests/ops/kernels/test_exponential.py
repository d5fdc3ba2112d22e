"""Sigmoid against torch, with NaN and infinities."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.ops.kernels.exponential import sigmoid


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_matches_torch(dtype: type) -> None:
    x = np.concatenate([np.linspace(-80, 80, 4001), [np.nan, np.inf, -np.inf, 1e6, -1e6]]).astype(dtype)
    out = np.empty_like(x)
    sigmoid(x, out)
    np.testing.assert_allclose(out, torch.sigmoid(torch.from_numpy(x)), rtol=5e-7, atol=1e-37)
