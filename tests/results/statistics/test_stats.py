"""Intervals and corrections against SciPy, statsmodels and numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from graphtrial.results.statistics.summary import holm, standard_error, summarise, t_quantile

SCORES = [70.1, 71.4, 69.8, 70.9]


def test_interval_of_the_mean_matches_students_t() -> None:
    actual = summarise(SCORES)
    assert actual is not None
    error = scipy.stats.sem(SCORES)
    assert (actual.ci_low, actual.ci_high) == pytest.approx(
        scipy.stats.t.interval(0.95, 3, loc=np.mean(SCORES), scale=error)
    )
    assert actual.interval == f"[{actual.ci_low:.3f}, {actual.ci_high:.3f}]"


def test_single_trial_has_no_interval() -> None:
    actual = summarise([3.0])
    assert actual is not None
    assert (actual.std, actual.ci_low, actual.ci_high, actual.interval) == (None, None, None, "-")


def test_nadeau_bengio_correction_widens_the_interval() -> None:
    # Ten folds: a ninth as many examples are tested as trained on. s = 2, n = 10: 2 sqrt(1/10 + 1/9) = 0.91894.
    assert standard_error(2.0, 10, 1 / 9) == pytest.approx(0.918937, abs=1e-6)
    assert standard_error(2.0, 10) == pytest.approx(2 / math.sqrt(10))
    plain, wide = summarise(SCORES), summarise(SCORES, overlap=0.25)
    assert plain is not None
    assert wide is not None
    assert wide.ci_high - wide.ci_low == pytest.approx((plain.ci_high - plain.ci_low) * math.sqrt(2))  # type: ignore[operator]
    assert t_quantile(3) == pytest.approx(3.182446, abs=1e-6)


@pytest.mark.slow
def test_holm_equals_the_worked_example_and_statsmodels() -> None:
    # 0.01 x 4, then 0.02 x 3, then 0.03 x 2 which is not above 0.06, then 0.04 x 1 which must not fall below it.
    assert holm([0.01, 0.04, 0.03, 0.02]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    values = np.random.default_rng(0).random(20) ** 3
    assert holm(values.tolist()) == pytest.approx(multitest.multipletests(values, method="holm")[1])
    assert holm([]) == []
