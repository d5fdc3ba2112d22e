"""Expected validation performance, against brute force over all orderings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from graphtrial.results.statistics.best_so_far import best_so_far, expected_best


@pytest.mark.parametrize(
    "scores", [[3.0], [1.0, 2.0], [0.3, 0.9, 0.1, 0.9, 0.5], [70.1, 65.2, 71.0, 50.0, 66.6, 70.2, 70.3]]
)
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_it_is_the_mean_and_the_quantiles_over_all_orderings(scores: list[float], higher_is_better: bool) -> None:
    curves = np.array([best_so_far(order, higher_is_better) for order in permutations(scores)])
    expected = expected_best(scores, higher_is_better)
    assert len(expected) == len(scores)
    for k, best in enumerate(expected):
        assert best.mean == pytest.approx(curves[:, k].mean(), rel=1e-12)
        ordered = np.sort(curves[:, k])
        for end, prob in ((best.low, 0.05), (best.high, 0.95)):
            # Both bounds of a quantile: at least this share is at most as large, and no more than it is smaller.
            assert (ordered <= end).mean() >= prob - 1e-9 if higher_is_better else (ordered < end).mean() <= prob + 1e-9
            assert (ordered < end).mean() <= prob + 1e-9 if higher_is_better else (ordered <= end).mean() >= prob - 1e-9
    assert expected[-1].mean == expected[-1].low == expected[-1].high == (max if higher_is_better else min)(scores)


def test_many_configurations_need_no_binomials() -> None:
    scores = np.random.default_rng(0).normal(size=2000).tolist()
    means = [best.mean for best in expected_best(scores, True)]
    assert np.all(np.diff(means) >= -1e-9)
    assert means[0] == pytest.approx(np.mean(scores))
    assert means[-1] == max(scores)
