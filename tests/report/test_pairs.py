"""Paired comparisons against SciPy, statsmodels and all sign flips by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats

from graphtrial.report.pairs import paired, pairs_needed

A = np.array([0.71, 0.74, 0.69, 0.73, 0.75, 0.72, 0.70, 0.76])
B = np.array([0.70, 0.71, 0.69, 0.70, 0.73, 0.73, 0.68, 0.72])


def test_the_permutation_test_counts_all_ways_to_swap_pairs() -> None:
    gaps = A - B
    observed = abs(gaps.mean())
    flips = [abs(np.mean(gaps * signs)) for signs in product((1, -1), repeat=len(gaps))]
    expected = np.mean([flip >= observed - 1e-12 for flip in flips])
    assert paired(A, B, 0.01).p == pytest.approx(expected)


def test_four_pairs_can_never_be_enough_for_a_permutation_test() -> None:
    assert paired([2, 3, 4, 5.5], [1, 1, 1, 1], 0.1).p == 0.125


def test_many_pairs_are_permuted_at_random_and_the_same_each_time() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=60)
    b = a + rng.normal(0.3, 1, 60)
    first, second = paired(a, b, 0.1), paired(a, b, 0.1)
    assert first == second
    assert first.p == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, abs=0.02)


def test_wilcoxon_is_scipys() -> None:
    assert paired(A, B, 0.01, test="wilcoxon").p == pytest.approx(scipy.stats.wilcoxon(A - B).pvalue)
    assert paired([1, 2, 3], [1, 2, 3], 0.01, test="wilcoxon").p == 1.0


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    found = paired(A, B, 0.01)
    interval = scipy.stats.ttest_rel(A, B).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.effect == pytest.approx(np.mean(A - B) / np.std(A - B, ddof=1))
    assert found.wins == pytest.approx((6 + 0.5) / 8)


@pytest.mark.parametrize("margin", [0.005, 0.02, 0.04])
def test_equivalence_is_that_of_statsmodels(margin: float) -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    expected = weightstats.ttost_paired(A, B, -margin, margin)[0]
    assert paired(A, B, margin).p_equivalence == pytest.approx(expected)


def test_equal_scores_are_equivalent_and_need_no_more_pairs() -> None:
    found = paired([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], 0.1)
    assert (found.p, found.is_equivalent, found.effect) == (1.0, True, None)
    assert pairs_needed(found) == 3


def test_the_number_of_pairs_needed_is_that_of_statsmodels_power() -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    found = paired(A, A - 0.01 - 0.02 * np.array([1, -1, 1, -1, 1, -1, 1, -1]), 1e-6)
    needed = power.TTestPower().solve_power(effect_size=found.effect, alpha=0.05, power=0.8, alternative="two-sided")
    assert pairs_needed(found) == int(np.ceil(needed))


def test_pairs_that_show_equivalence_are_fewer_when_the_margin_is_wide() -> None:
    noisy = B + 0.03 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
    narrow, wide = pairs_needed(paired(noisy, B, 0.02)), pairs_needed(paired(noisy, B, 0.05))
    assert narrow is not None
    assert wide is not None
    assert 2 <= wide < narrow


def test_overlapping_folds_may_never_settle_it() -> None:
    gaps = np.array([0.1, -0.1, 0.12, -0.08, 0.1, -0.1])
    assert pairs_needed(paired(gaps, np.zeros(6), 1e-9, overlap=0.25)) is None
