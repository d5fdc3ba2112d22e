"""Sigmoid and hyperbolic tangent against torch, with NaN and infinities."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.ops.kernels.exponential import hyperbolic_tangents, sigmoid


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_matches_torch(dtype: type) -> None:
    x = np.concatenate([np.linspace(-80, 80, 4001), [np.nan, np.inf, -np.inf, 1e6, -1e6]]).astype(dtype)
    out = np.empty_like(x)
    sigmoid(x, out)
    np.testing.assert_allclose(out, torch.sigmoid(torch.from_numpy(x)), rtol=5e-7, atol=1e-37)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hyperbolic_tangent_matches_numpy(dtype: type) -> None:
    small = np.logspace(-30, 0, 2001)
    ends = [0.625, -0.625, 0, np.nan, np.inf, -np.inf]
    x = np.concatenate([np.linspace(-12, 12, 4001), small, -small, ends]).astype(dtype)
    out = x.copy()
    hyperbolic_tangents(out)
    np.testing.assert_allclose(out, np.tanh(x.astype(np.float64)), rtol=4e-7 if dtype == np.float32 else 1e-15)
