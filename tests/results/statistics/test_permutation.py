"""Permutation tests within splits, against SciPy and all permutations by hand."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from graphtrial.results.statistics.permutation import permutation_p, smallest_p

A = np.array([0.71, 0.74, 0.69, 0.73, 0.75, 0.72, 0.70, 0.76])
B = np.array([0.70, 0.71, 0.69, 0.70, 0.73, 0.73, 0.68, 0.72])


def difference_of_means(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))


def test_single_seed_gives_the_paired_permutation_test() -> None:
    pairs = [(A[i : i + 1], B[i : i + 1]) for i in range(len(A))]
    expected = stats.permutation_test((A, B), difference_of_means, permutation_type="samples", n_resamples=np.inf)
    assert permutation_p(pairs) == pytest.approx(expected.pvalue)
    assert smallest_p(pairs) == 2 / 2**8


def test_single_split_gives_the_two_sample_permutation_test() -> None:
    samples = [(A[:4], B[:4])]
    expected = stats.permutation_test((A[:4], B[:4]), difference_of_means, n_resamples=np.inf)
    assert permutation_p(samples) == pytest.approx(expected.pvalue)
    assert permutation_p([(np.arange(4.0) + 10, np.arange(4.0))]) == pytest.approx(2 / 70) == smallest_p(samples)


def test_permutations_are_within_splits() -> None:
    strata = [(np.array([3.0, 5.0]), np.array([1.0, 2.0])), (np.array([7.0, 6.5]), np.array([6.0, 7.2]))]
    sums = []
    for places in product(list(combinations(range(4), 2)), repeat=2):
        total = 0.0
        for chosen, (a, b) in zip(places, strata, strict=True):
            both = np.concatenate([a, b])
            mask = np.isin(np.arange(4), chosen)
            total += both[mask].mean() - both[~mask].mean()
        sums.append(abs(total))
    observed = abs(sum(a.mean() - b.mean() for a, b in strata))
    assert permutation_p(strata) == pytest.approx(np.mean(np.array(sums) >= observed - 1e-12))
    assert smallest_p(strata) == pytest.approx(2 / 36)


def test_unequal_sample_sizes_are_not_symmetric() -> None:
    strata = [(np.array([9.0]), np.array([1.0, 2.0, 3.0, 4.0]))]
    assert permutation_p(strata) == pytest.approx(1 / 5) == smallest_p(strata)


def test_monte_carlo_permutations_are_deterministic() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=60)
    b = a + rng.normal(0.3, 1, 60)
    pairs = [(a[i : i + 1], b[i : i + 1]) for i in range(60)]
    assert permutation_p(pairs) == permutation_p(pairs)
    assert permutation_p(pairs) == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.02)
    assert permutation_p([(a, b)]) == pytest.approx(stats.ttest_ind(a, b).pvalue, abs=0.02)
    assert smallest_p(pairs) == 1 / 10_000


def test_equal_scores_have_p_value_one() -> None:
    assert permutation_p([(np.ones(3), np.ones(3))]) == 1.0
