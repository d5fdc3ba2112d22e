"""Difference of two models over the splits they share: its interval, its tests, and how many seeds would decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from graphtrial.results.statistics.permutation import RESAMPLES, Stratum, least_p, permutation_p
from graphtrial.results.statistics.summary import ALPHA, standard_error
from graphtrial.results.statistics.welch import pooled, quantile, smallest, tail

Test = Literal["permutation", "wilcoxon"]
Design = Literal["by split", "by fold and seed", "independent"]
"""Pairs of splits whose seeds are averaged, pairs of folds drawn by the seed, or two samples of seeds on one split."""


@dataclass(frozen=True)
class Difference:
    """A - B: `mean` over `pairs` of splits, or of two independent samples on one split, where `pairs` is 0.

    `sd` is that of the pairs' differences, or the pooled one of the two samples; [`low`, `high`] the 95 % interval by
    Student's t, with `error` and `freedom`. `p` is two-sided, and `p_least` the smallest that so few trials could have;
    `p_equivalence` that of two one-sided t tests against differences of `margin` and more. `effect` is mean over `sd`,
    none where nothing varies; `wins` the chance that a trial of A is higher on the same split, ties half.
    """

    design: Design
    pairs: int
    trials_a: int
    trials_b: int
    mean: float
    sd: float
    low: float
    high: float
    error: float
    freedom: float
    p: float
    p_least: float
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


def difference(
    strata: Sequence[Stratum],
    margin: float,
    *,
    overlap: float = 0.0,
    seed_draws: bool = False,
    test: Test = "permutation",
    limit: float = math.inf,
) -> Difference:
    """Compare two models by their scores on each shared split; two trials of each on one, or two splits, at least.

    Seeds of two models have nothing in common, so that pairs are splits: the mean over the seeds of one minus that of
    the other. `seed_draws` says that the seed draws the folds, which are then shared. The standard error of pairs is
    that of `standard_error`; of two samples on one split Welch's. No difference exceeds `limit`.
    """
    gaps = np.array([a.mean() - b.mean() for a, b in strata])
    mean = float(gaps.mean())
    design: Design = "independent" if len(strata) == 1 else "by fold and seed" if seed_draws else "by split"
    if design == "independent":
        ((a, b),) = strata
        spread = [float(np.var(scores, ddof=1)) for scores in (a, b)]
        error, freedom = pooled(tuple((v / len(x), len(x) - 1.0) for v, x in zip(spread, (a, b), strict=True)))
        sd = math.sqrt(sum(v * (len(x) - 1) for v, x in zip(spread, (a, b), strict=True)) / (len(a) + len(b) - 2))
    else:
        sd = float(gaps.std(ddof=1))
        error, freedom = standard_error(sd, len(gaps), overlap), len(gaps) - 1.0
    half = quantile(freedom, ALPHA / 2) * error
    wilcoxon = test == "wilcoxon"
    return Difference(
        design=design,
        pairs=0 if design == "independent" else len(gaps),
        trials_a=sum(len(a) for a, _ in strata),
        trials_b=sum(len(b) for _, b in strata),
        mean=mean,
        sd=sd,
        low=max(mean - half, -limit),
        high=min(mean + half, limit),
        error=error,
        freedom=freedom,
        p=_ranks_p(strata, gaps) if wilcoxon else permutation_p(strata),
        p_least=least_p(_rank_strata(strata)) if wilcoxon else least_p(strata),
        p_equivalence=_equivalence(mean, error, freedom, margin),
        margin=margin,
        effect=mean / sd if sd > 0 else None,
        wins=float(np.mean([np.mean(np.sign(a[:, None] - b[None, :]) / 2 + 0.5) for a, b in strata])),
        overlap=overlap,
    )


def seeds_needed(found: Difference, strata: Sequence[Stratum], seeds: int) -> int | None:
    """Return how many seeds instead of `seeds` would decide with 80 % power, the true difference being the one found.

    Decided means significant with an interval without 0, or equivalent. More seeds on the same splits lower the part of
    the variance that seeds have, not what splits have; where no split has two seeds, all of it is taken to be that of
    seeds. None where no number of seeds is enough.
    """
    within = _within(strata)
    noise = found.sd**2 * seeds if within is None else within
    between = max(0.0, found.sd**2 - noise / seeds)

    def design(number: int) -> tuple[float, float, float]:
        """Return standard error, degrees of freedom and least p with so many seeds."""
        ways = math.comb(2 * number, number) if number <= 20 else math.inf
        if found.design == "independent":
            error, freedom = pooled(tuple((v / number, number - 1.0) for v in _variances(strata)))
            return error, freedom, 2 / ways
        if found.design == "by fold and seed":
            pairs = max(2, round(len(strata) / seeds * number))
            return standard_error(found.sd, pairs, found.overlap), pairs - 1.0, 2.0 ** (1 - min(pairs, 1000))
        sd = math.sqrt(between + noise / number)
        return standard_error(sd, found.pairs, found.overlap), found.freedom, 2 / ways**found.pairs

    def power(number: int) -> float:
        error, freedom, least = design(number)
        apart = _power_difference(found.mean, error, freedom) if max(least, 1 / RESAMPLES) < ALPHA else 0.0
        return max(apart, _power_equivalence(found.mean, error, freedom, found.margin))

    return smallest(power, max(seeds, 2 if found.design == "independent" else 1))


def _variances(strata: Sequence[Stratum]) -> tuple[float, float]:
    ((a, b),) = strata
    return float(np.var(a, ddof=1)), float(np.var(b, ddof=1))


def _within(strata: Sequence[Stratum]) -> float | None:
    """Return the variance that one more seed of both models adds to a difference on one split, where it shows."""
    found = []
    for side in (0, 1):
        known = [stratum[side] for stratum in strata if len(stratum[side]) > 1]
        if not known:
            return None
        found.append(float(np.mean([np.var(scores, ddof=1) for scores in known])))
    return sum(found)


def _ranks_p(strata: Sequence[Stratum], gaps: np.ndarray) -> float:
    """Return p of Wilcoxon's signed ranks of pairs, or of his rank sums (Mann-Whitney) of two samples."""
    if len(strata) > 1:
        return 1.0 if not gaps.any() else float(stats.wilcoxon(gaps).pvalue)
    ((a, b),) = strata
    return float(stats.mannwhitneyu(a, b).pvalue)


def _rank_strata(strata: Sequence[Stratum]) -> Sequence[Stratum]:
    """Return as many trials as the ranks have: of several splits one difference each."""
    return [(np.zeros(1), np.zeros(1))] * len(strata) if len(strata) > 1 else strata


def _equivalence(mean: float, error: float, freedom: float, margin: float) -> float:
    """Return the larger p-value of the two one-sided tests, Schuirmann 1987."""
    if error == 0:
        return 0.0 if abs(mean) < margin else 1.0
    return tail(freedom, (margin - abs(mean)) / error)


def _power_difference(mean: float, error: float, freedom: float) -> float:
    if error == 0:
        return float(mean != 0)
    found = float(stats.nct.sf(quantile(freedom, ALPHA / 2), freedom, abs(mean) / error))
    return 1.0 if math.isnan(found) else found  # a shift too large for the distribution function


def _power_equivalence(mean: float, error: float, freedom: float, margin: float) -> float:
    if error == 0:
        return float(abs(mean) < margin)
    limit = quantile(freedom, ALPHA)
    sides = [
        float(stats.nct.sf(limit, freedom, shift / error)) if shift > 0 else 0.0
        for shift in (margin - mean, margin + mean)
    ]
    return max(0.0, sum(1.0 if math.isnan(side) else side for side in sides) - 1)
