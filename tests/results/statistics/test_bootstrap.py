"""The interval of Wiki-CS: resampled means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from graphtrial.results.statistics.summary import bootstrapped, summarise


def test_interval_matches_scipy_bootstrap() -> None:
    values = np.random.default_rng(0).normal(79.0, 0.5, 100)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=9999, method="percentile", random_state=1)
    ours = bootstrapped(values.tolist())
    assert ours is not None
    assert ours.ci_low == pytest.approx(theirs.confidence_interval.low, abs=0.02)
    assert ours.ci_high == pytest.approx(theirs.confidence_interval.high, abs=0.02)
    assert bootstrapped(values.tolist()[::-1]).interval == ours.interval  # whatever the order of the trials


def test_other_statistics_match_the_t_summary() -> None:
    usual, ours = summarise([1.0, 2.0, 4.0]), bootstrapped([1.0, 2.0, 4.0])
    assert usual is not None
    assert ours is not None
    assert (ours.mean, ours.std, ours.min, ours.max, ours.n) == (usual.mean, usual.std, usual.min, usual.max, usual.n)
    assert 1.0 <= ours.ci_low < ours.mean < ours.ci_high <= 4.0
    assert bootstrapped([3.0]) == summarise([3.0])
    assert bootstrapped([]) is None
