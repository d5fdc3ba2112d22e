"""Expected validation performance: the best of the first k configurations, over all orderings of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

COVERAGE = 0.9
"""Share of the orderings within the interval."""


@dataclass(frozen=True)
class BestOf:
    """The best score of k configurations: its mean over orderings, and quantiles that bound 90 % of them."""

    mean: float
    low: float
    high: float


def best_so_far(scores: Sequence[float], higher_is_better: bool) -> list[float]:
    """Return the best score after each configuration, in the order given."""
    values = np.asarray(scores, float)
    best: list[float] = (np.maximum if higher_is_better else np.minimum).accumulate(values).tolist()
    return best


def expected_best(scores: Sequence[float], higher_is_better: bool) -> list[BestOf]:
    r"""Return the distribution of the best of the first k scores over all orderings, for k = 1 to n.

    .. math:: P(\text{best of } k \le v_i) = \binom{i}{k} \Big/ \binom{n}{k}

    where v_1 <= ... <= v_n: the expected validation performance of Dodge et al. 2019 (arXiv:1909.03004) for
    configurations drawn without replacement, so that all n together have the best score; the paper draws them with
    replacement, where it is (i / n)^k.
    """
    sign = 1.0 if higher_is_better else -1.0
    values = np.sort(sign * np.asarray(scores, float))
    n = len(values)
    rank = np.arange(n + 1, dtype=float)
    below = np.ones(n + 1)  # P(best of k <= v_i) for i = 0 to n, where i counts the scores that are allowed
    below[0] = 0.0
    results = []
    for k in range(1, n + 1):
        below = np.maximum(0.0, (rank - k + 1) / (n - k + 1)) * (below if k > 1 else 1.0)
        mean = float(values @ np.diff(below))
        ends = [values[np.searchsorted(below[1:], prob - 1e-12)] for prob in (0.5 - COVERAGE / 2, 0.5 + COVERAGE / 2)]
        low, high = sorted(float(sign * end) for end in ends)
        results.append(BestOf(sign * mean, low, high))
    return results
