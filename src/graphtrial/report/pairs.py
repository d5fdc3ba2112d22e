"""Two models on the same splits and seeds: the difference, whether it is real, and how many more seeds would tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from graphtrial.report.stats import ALPHA, standard_error, t_quantile

Test = Literal["permutation", "wilcoxon"]
POWER = 0.8
RESAMPLES = 9_999
MOST_PAIRS = 100_000


@dataclass(frozen=True)
class Paired:
    """Differences A - B of `n` pairs of scores.

    `p` is two-sided; `p_equivalence` that of two one-sided t tests against differences of `margin` and more; `effect`
    is Cohen's d of the differences, mean over s.d., none where all are the same; `wins` the share of pairs in which A
    is higher, ties half. [`low`, `high`] is the 95 % interval of the difference.
    """

    n: int
    mean: float
    sd: float
    low: float
    high: float
    p: float
    p_equivalence: float
    margin: float
    effect: float | None
    wins: float
    overlap: float

    @property
    def excludes_zero(self) -> bool:
        """The interval has no 0 in it."""
        return self.low > 0 or self.high < 0

    @property
    def is_equivalent(self) -> bool:
        """Differences as large as the margin are ruled out."""
        return self.p_equivalence < ALPHA


def paired(
    a: Sequence[float], b: Sequence[float], margin: float, *, overlap: float = 0.0, test: Test = "permutation"
) -> Paired:
    """Compare two models pair by pair; at least two pairs are needed.

    The permutation test swaps the scores within pairs, in all 2^n ways where these are at most 9,999, else in as many
    drawn with a fixed seed. Interval and equivalence are Student's, with the standard error of `standard_error`.
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    gaps = first - second
    n, mean, sd = len(gaps), float(gaps.mean()), float(gaps.std(ddof=1))
    error = standard_error(sd, n, overlap)
    half = t_quantile(n - 1) * error
    return Paired(
        n=n,
        mean=mean,
        sd=sd,
        low=mean - half,
        high=mean + half,
        p=_wilcoxon(gaps) if test == "wilcoxon" else _permutation(first, second),
        p_equivalence=_equivalence(mean, error, n, margin),
        margin=margin,
        effect=mean / sd if sd > 0 else None,
        wins=float(np.mean((gaps > 0) + 0.5 * (gaps == 0))),
        overlap=overlap,
    )


def pairs_needed(found: Paired) -> int | None:
    """Return how many pairs would tell the two apart, or show them equivalent, with 80 % power; none if no number does.

    The true difference and deviation are taken to be those found. A permutation test needs at least six pairs.
    """
    if found.sd == 0:
        least = math.ceil(math.log2(2 / ALPHA))
        return max(found.n, least) if found.mean else found.n
    answers = (_smallest(lambda n: _power_difference(found, n)), _smallest(lambda n: _power_equivalence(found, n)))
    return min((answer for answer in answers if answer is not None), default=None)


def _permutation(a: np.ndarray, b: np.ndarray) -> float:
    result = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        random_state=np.random.Generator(np.random.PCG64(0)),
    )
    return float(result.pvalue)


def _wilcoxon(gaps: np.ndarray) -> float:
    return 1.0 if not gaps.any() else float(stats.wilcoxon(gaps).pvalue)


def _equivalence(mean: float, error: float, n: int, margin: float) -> float:
    """Return the larger p-value of the two one-sided tests, Schuirmann 1987."""
    if error == 0:
        return 0.0 if abs(mean) < margin else 1.0
    return float(stats.t.sf((margin - abs(mean)) / error, n - 1))


def _power_difference(found: Paired, n: int) -> float:
    if 2 ** (1 - n) > ALPHA:  # no permutation of so few pairs is rare enough
        return 0.0
    shift = abs(found.mean) / standard_error(found.sd, n, found.overlap)
    return float(stats.nct.sf(stats.t.ppf(1 - ALPHA / 2, n - 1), n - 1, shift))


def _power_equivalence(found: Paired, n: int) -> float:
    error, limit = standard_error(found.sd, n, found.overlap), stats.t.ppf(1 - ALPHA, n - 1)
    sides = [
        float(stats.nct.sf(limit, n - 1, shift / error)) if shift > 0 else 0.0
        for shift in (found.margin - found.mean, found.margin + found.mean)
    ]
    return max(0.0, sum(sides) - 1)


def _smallest(power: Callable[[int], float]) -> int | None:
    """Return the smallest number of pairs with enough power, which grows with the number."""
    high = 2
    while power(high) < POWER:
        high *= 2
        if high > MOST_PAIRS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high
