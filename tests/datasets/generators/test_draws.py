"""Random numbers from raw bits."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators.draws import Draws, threshold


def test_raw_numbers_match_philox() -> None:
    # The known answer of Philox4x64-10 for counter and key zero (Random123); NumPy raises the counter before it draws.
    assert np.random.Philox(counter=2**256 - 1, key=0).random_raw(2).tolist() == [
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
    ]
    assert Draws(7, 3).raw(5).tolist() == np.random.Philox(key=[7, 3]).random_raw(5).tolist()


def test_streams_and_seeds_are_independent_and_reproducible() -> None:
    assert Draws(1, 0).raw(4).tolist() == Draws(1, 0).raw(4).tolist()
    assert len({tuple(Draws(seed, stream).raw(4).tolist()) for seed in range(3) for stream in range(3)}) == 9


def test_numbers_below_a_limit_are_uniform() -> None:
    drawn = Draws(0, 0).below(np.full(60_000, 6))
    counts = np.bincount(drawn, minlength=6)
    assert len(counts) == 6
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 25  # chi-squared with 5 degrees of freedom: by chance 1 in 7,000
    assert Draws(0, 0).below(np.ones(10, int)).tolist() == [0] * 10


def test_uniform_numbers_fill_the_unit_interval() -> None:
    drawn = Draws(5, 1).uniform(40_000)
    assert 0 <= drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 0.01


def test_permutations_stay_within_their_groups() -> None:
    counts = np.array([3, 0, 5, 1])
    order = Draws(2, 0).permutations(counts)
    assert sorted(order.tolist()) == list(range(9))
    assert sorted(order[:3].tolist()) == [0, 1, 2]
    assert sorted(order[3:8].tolist()) == [3, 4, 5, 6, 7]
    assert sorted(Draws(2, 0).permutation(20).tolist()) == list(range(20))


def test_thresholds_are_32_bit_probabilities() -> None:
    assert [threshold(probability) for probability in (0.0, 0.5, 1.0)] == [0, 2**31, 2**32]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_outside_64_bits_raises(seed: int) -> None:
    with pytest.raises(GraphTrialError, match="seed"):
        Draws(seed, 0)


@pytest.mark.parametrize("probability", [-0.1, 1.1, float("nan")])
def test_invalid_probability_raises(probability: float) -> None:
    with pytest.raises(GraphTrialError, match="probability"):
        threshold(probability)
