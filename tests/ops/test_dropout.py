"""Dropout against the published numbers of its generator, and against what chance would do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from graphtrial.core.errors import GraphTrialError
from graphtrial.ops import dropout, keep_noise
from graphtrial.ops.kernels import keep_or_drop

WORDS = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
"""The first numbers of SplitMix64 after the seed 1234567, as published with its reference in C."""


def drawn(share: float, count: int, seed: int = 0) -> torch.Tensor:
    return keep_noise(torch.empty(count), share, torch.Generator().manual_seed(seed)) != 0


@pytest.mark.parametrize("length", range(16, 21))
@pytest.mark.parametrize("below", [1, 20_000, 32_768, 65_535, 65_536])
def test_each_number_is_cut_into_four(below: int, length: int) -> None:
    out = np.full(length, -1.0)
    keep_or_drop(np.array([1234567]), below, 2.5, out)
    parts = [word >> shift & 0xFFFF for word in WORDS for shift in (0, 16, 32, 48)]
    assert out.tolist() == [2.5 if part < below else 0.0 for part in parts[:length]]


@pytest.mark.parametrize("share", [0.05, 0.4, 0.5, 0.9])
def test_as_many_are_dropped_as_was_asked_and_neighbours_know_nothing_of_each_other(share: float) -> None:
    kept = drawn(share, 400_000)
    assert stats.binomtest(int(kept.sum()), len(kept), 1 - share).pvalue > 1e-3
    for apart in (1, 2, 3, 4, 64):
        table = np.histogram2d(kept[:-apart].numpy(), kept[apart:].numpy(), bins=2)[0]
        assert stats.chi2_contingency(table).pvalue > 1e-3


def test_two_draws_and_two_seeds_know_nothing_of_each_other() -> None:
    generator = torch.Generator().manual_seed(3)
    first, second = (keep_noise(torch.empty(200_000), 0.5, generator) for _ in range(2))
    for one, other in ((first, second), (drawn(0.5, 200_000, 0), drawn(0.5, 200_000, 1))):
        agree = int(((one != 0) == (other != 0)).sum())
        assert stats.binomtest(agree, 200_000, 0.5).pvalue > 1e-3


def test_what_is_kept_grows_so_that_the_mean_stays() -> None:
    x = torch.ones(300_000, dtype=torch.float64)
    for share in (0.3, 0.8):
        torch.manual_seed(1)
        out = dropout(x, share)
        values = out.unique()
        assert values[0] == 0
        assert float(values[1]) == pytest.approx(1 / (1 - share), rel=1e-4)
        assert float(out.mean()) == pytest.approx(1.0, abs=0.02)


def test_the_gradient_takes_the_same_way() -> None:
    x = torch.randn(7, 5, dtype=torch.float64).t().requires_grad_()
    torch.manual_seed(4)
    out = dropout(x, 0.5)
    torch.manual_seed(4)
    noise = keep_noise(x, 0.5)
    torch.testing.assert_close(torch.autograd.grad(out.sum(), x)[0], noise)
    torch.testing.assert_close(out, x * noise)


def test_outside_training_nothing_is_drawn() -> None:
    x, before = torch.randn(9), torch.get_rng_state()
    assert dropout(x, 0.5, False) is x
    assert dropout(x, 0.0) is x
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_at_all_can_be_dropped_from() -> None:
    assert dropout(torch.empty(0, 3), 0.5).shape == (0, 3)


@pytest.mark.parametrize("share", [1.0, -0.1, 7])
def test_an_impossible_share_is_refused(share: float) -> None:
    with pytest.raises(GraphTrialError, match="at least 0 and below 1"):
        dropout(torch.ones(3), share)
