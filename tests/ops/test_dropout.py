"""Dropout masks against the published numbers of SplitMix64, and against statistical tests of independence."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.threads import run
from graphtrial.ops import dropout, dropout_mask, kernels

WORDS = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
"""The first numbers of SplitMix64 after the seed 1234567, as published with its reference in C."""


def keeps(p: float, count: int, seed: int = 0) -> torch.Tensor:
    return dropout_mask(torch.empty(count), p, torch.Generator().manual_seed(seed)) != 0


@pytest.mark.parametrize("length", range(16, 21))
@pytest.mark.parametrize("threshold", [1, 20_000, 32_768, 65_535, 65_536])
def test_mask_uses_16_bits_per_element(threshold: int, length: int) -> None:
    out = np.full(length, -1.0)
    run(kernels.dropout, 0, np.array([1234567]), threshold, 2.5, None, out)
    parts = [word >> shift & 0xFFFF for word in WORDS for shift in (0, 16, 32, 48)]
    assert out.tolist() == [2.5 if part < threshold else 0.0 for part in parts[:length]]


@pytest.mark.parametrize("p", [0.05, 0.4, 0.5, 0.9])
def test_dropped_fraction_is_p_and_elements_are_independent(p: float) -> None:
    remaining = keeps(p, 400_000)
    assert stats.binomtest(int(remaining.sum()), len(remaining), 1 - p).pvalue > 1e-3
    for apart in (1, 2, 3, 4, 64):
        table = np.histogram2d(remaining[:-apart].numpy(), remaining[apart:].numpy(), bins=2)[0]
        assert stats.chi2_contingency(table).pvalue > 1e-3


def test_masks_and_seeds_are_independent() -> None:
    generator = torch.Generator().manual_seed(3)
    first, second = (dropout_mask(torch.empty(200_000), 0.5, generator) for _ in range(2))
    for one, other in ((first, second), (keeps(0.5, 200_000, 0), keeps(0.5, 200_000, 1))):
        agree = int(((one != 0) == (other != 0)).sum())
        assert stats.binomtest(agree, 200_000, 0.5).pvalue > 1e-3


def test_surviving_elements_are_scaled_to_the_same_mean() -> None:
    x = torch.ones(300_000, dtype=torch.float64)
    for p in (0.3, 0.8):
        torch.manual_seed(1)
        out = dropout(x, p)
        values = out.unique()
        assert values[0] == 0
        assert float(values[1]) == pytest.approx(1 / (1 - p), rel=1e-4)
        assert float(out.mean()) == pytest.approx(1.0, abs=0.02)


def test_gradient_has_the_same_mask() -> None:
    x = torch.randn(7, 5, dtype=torch.float64).t().requires_grad_()
    torch.manual_seed(4)
    out = dropout(x, 0.5)
    torch.manual_seed(4)
    mask = dropout_mask(x, 0.5)
    torch.testing.assert_close(torch.autograd.grad(out.sum(), x)[0], mask)
    torch.testing.assert_close(out, x * mask)


def test_eval_mode_is_the_identity() -> None:
    x, before = torch.randn(9), torch.get_rng_state()
    assert dropout(x, 0.5, False) is x
    assert dropout(x, 0.0) is x
    assert torch.equal(torch.get_rng_state(), before)


def test_empty_tensor_is_supported() -> None:
    assert dropout(torch.empty(0, 3), 0.5).shape == (0, 3)


@pytest.mark.parametrize("p", [1.0, -0.1, 7])
def test_invalid_probability_raises(p: float) -> None:
    with pytest.raises(GraphTrialError, match="at least 0 and below 1"):
        dropout(torch.ones(3), p)
