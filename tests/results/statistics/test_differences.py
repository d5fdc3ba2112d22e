"""Differences of two models, against SciPy, statsmodels and simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from graphtrial.results.statistics.differences import difference, seeds_needed
from graphtrial.results.statistics.permutation import Stratum

A = np.array([0.71, 0.74, 0.69, 0.73, 0.75, 0.72, 0.70, 0.76])
B = np.array([0.70, 0.71, 0.69, 0.70, 0.73, 0.73, 0.68, 0.72])


def pairs(a: Sequence[float], b: Sequence[float]) -> list[Stratum]:
    return [(np.array([x]), np.array([y])) for x, y in zip(a, b, strict=True)]


def test_paired_interval_matches_the_paired_t_test() -> None:
    actual = difference(pairs(A, B), 0.01)
    interval = stats.ttest_rel(A, B).confidence_interval(0.95)
    assert (actual.ci_low, actual.ci_high) == pytest.approx((interval.low, interval.high))
    assert actual.effect_size == pytest.approx(np.mean(A - B) / np.std(A - B, ddof=1))
    assert actual.prob_superiority == pytest.approx((6 + 0.5) / 8)
    assert (actual.design, actual.pairs) == ("by split", 8)


def test_two_sample_interval_matches_welch() -> None:
    actual = difference([(A[:5], B[:4])], 0.01)
    interval = stats.ttest_ind(A[:5], B[:4], equal_var=False).confidence_interval(0.95)
    assert (actual.ci_low, actual.ci_high) == pytest.approx((interval.low, interval.high))
    superior = stats.mannwhitneyu(A[:5], B[:4]).statistic / 20
    assert actual.prob_superiority == pytest.approx(superior)
    assert (actual.design, actual.pairs, actual.trials_a, actual.trials_b) == ("independent", 0, 5, 4)


def test_wilcoxon_matches_scipy() -> None:
    assert difference(pairs(A, B), 0.01, test="wilcoxon").p == pytest.approx(stats.wilcoxon(A - B).pvalue)
    assert difference([(A[:4], B[:5])], 0.01, test="wilcoxon").p == stats.mannwhitneyu(A[:4], B[:5]).pvalue
    assert difference(pairs([1, 2, 3], [1, 2, 3]), 0.01, test="wilcoxon").p == 1.0
    assert difference(pairs([1, 2, 3], [1, 2, 3]), 0.01, test="wilcoxon").p_min == 0.25


@pytest.mark.parametrize("margin", [0.005, 0.02, 0.04])
def test_equivalence_matches_statsmodels(margin: float) -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    expected = weightstats.ttost_paired(A, B, -margin, margin)[0]
    assert difference(pairs(A, B), margin).p_equivalence == pytest.approx(expected)
    expected = weightstats.ttost_ind(A[:4], B[:5], -margin, margin, usevar="unequal")[0]
    assert difference([(A[:4], B[:5])], margin).p_equivalence == pytest.approx(expected)


def test_seeds_nested_in_folds_count_once_and_overlap_widens_the_interval() -> None:
    rng = np.random.default_rng(0)
    strata = [(rng.normal(k, 1, 4) + 1, rng.normal(k, 1, 4)) for k in range(5)]
    gaps = np.array([a.mean() - b.mean() for a, b in strata])
    actual = difference(strata, 0.1, overlap=0.25)
    half = stats.t.ppf(0.975, 4) * gaps.std(ddof=1) * math.sqrt(1 / 5 + 1 / 4)  # Nadeau and Bengio, five folds
    assert (actual.ci_low, actual.ci_high) == pytest.approx((gaps.mean() - half, gaps.mean() + half))


def test_interval_is_clipped_to_the_metric_range() -> None:
    actual = difference(pairs([100, 20], [0, 10]), 1.0, limit=100.0)
    assert (actual.ci_low, actual.ci_high) == (-100.0, 100.0)


def test_required_seeds_match_statsmodels_power() -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    a, b = np.array([1.0, 3.0, 2.0, 2.4]), np.array([0.5, 2.5, 1.5, 1.9])
    strata = [(a, b)]
    actual = difference(strata, 1e-9)
    needed = power.TTestIndPower().solve_power(effect_size=actual.effect_size, alpha=0.05, power=0.8)
    assert seeds_needed(actual, strata, 4) == math.ceil(needed)


def test_equal_scores_are_equivalent_and_need_no_more_seeds() -> None:
    strata = pairs([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    actual = difference(strata, 0.1)
    assert (actual.p, actual.is_equivalent, actual.effect_size) == (1.0, True, None)
    assert seeds_needed(actual, strata, 1) == 1


def test_additional_seeds_reduce_seed_variance_only() -> None:
    rng = np.random.default_rng(1)
    noisy = [(np.array([gap - 2.0, gap + 2.0]), np.array([-2.0, 2.0])) for gap in (0.5, 1.5, 0.8, 1.2) * 2]
    needed = seeds_needed(difference(noisy, 1e-9), noisy, 2)
    error = math.sqrt((8 + 8) / 21 / 8)  # of 21 seeds, by the variances within splits
    assert stats.nct.sf(stats.t.ppf(0.975, 7), 7, 1 / error) == pytest.approx(0.8, abs=0.03)
    assert needed in (20, 21, 22)
    shifts = [4.0, -3.0, 5.0, -2.0]
    apart = [(rng.normal(shift, 0.01, 6), rng.normal(0, 0.01, 6)) for shift in shifts]
    assert seeds_needed(difference(apart, 1e-9, overlap=1 / 3), apart, 6) is None
