"""Differences of two means, against SciPy's tests and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from graphtrial.results.statistics.welch import Mean, contrast, pooled, smallest, trials_needed

A, B = [71.2, 69.8, 70.9, 72.0], [68.1, 70.2, 66.9, 67.7, 68.8]


def mean_of(values: list[float]) -> Mean:
    n = len(values)
    return Mean(float(np.mean(values)), ((float(np.var(values, ddof=1)) / n, n - 1.0),))


def test_difference_matches_welchs_t_test() -> None:
    actual = contrast(mean_of(A), mean_of(B), margin=1.0)
    expected = stats.ttest_ind(A, B, equal_var=False)
    assert actual.p == pytest.approx(expected.pvalue)
    assert actual.dof == pytest.approx(expected.df)
    assert actual.interval() == pytest.approx(tuple(expected.confidence_interval()))


@pytest.mark.parametrize("margin", [2.0, 3.0, 4.0, 6.0])
def test_equivalence_is_the_larger_of_two_one_sided_tests(margin: float) -> None:
    above = stats.ttest_ind(np.array(A) + margin, B, equal_var=False, alternative="greater")
    below = stats.ttest_ind(np.array(A) - margin, B, equal_var=False, alternative="less")
    actual = contrast(mean_of(A), mean_of(B), margin)
    assert actual.p_equivalence == pytest.approx(max(above.pvalue, below.pvalue))


def test_known_variance_component_has_infinite_dof() -> None:
    actual = contrast(Mean(1.0), Mean(0.0, ((0.25, math.inf),)), margin=2.0)
    assert actual.p == pytest.approx(2 * stats.norm.sf(2.0))
    assert actual.p_equivalence == pytest.approx(stats.norm.sf(2.0))
    assert pooled(((0.09, 4.0), (0.16, math.inf))) == pytest.approx((0.5, 0.25**2 / (0.09**2 / 4)))


def test_zero_variance_compares_the_means() -> None:
    assert contrast(Mean(1.0), Mean(1.0), 0.1).p == 1.0
    assert contrast(Mean(1.0), Mean(1.0), 0.1).p_equivalence == 0.0
    assert contrast(Mean(1.0), Mean(2.0), 0.1).p == 0.0


@pytest.mark.parametrize(("difference", "margin"), [(0.6, 3.0), (4.5, 2.0)])
def test_required_trials_have_80_percent_power(difference: float, margin: float) -> None:
    std, other = 1.5, ((0.1, 99.0),)
    needed = trials_needed(difference, std, other, margin, 0.05, 2)
    assert needed is not None

    def fraction(trials: int) -> float:
        rng = np.random.default_rng(0)
        decided = 0
        for _ in range(2000):
            ours = rng.normal(difference, std, trials)
            actual = contrast(mean_of(list(ours)), Mean(0.0, other), margin)
            decided += actual.p < 0.05 or actual.p_equivalence < 0.05
        return decided / 2000

    assert fraction(needed) > 0.72  # the s.d. is taken as known when planning
    assert needed == 2 or fraction(needed - 1) < 0.84


def test_required_trials_are_none_if_the_other_error_dominates() -> None:
    assert trials_needed(2.0, 1.0, ((1.0, 3.0),), 3.0, 0.05, 2) is None
    assert smallest(lambda n: 0.0) is None
    assert smallest(lambda n: float(n >= 37)) == 37
    assert smallest(lambda n: 1.0, least=5) == 5
