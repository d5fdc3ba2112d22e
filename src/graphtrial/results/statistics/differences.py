"""Difference of two models over shared splits: confidence interval, tests, and power analysis over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from graphtrial.results.statistics.permutation import RESAMPLES, Stratum, permutation_p, smallest_p
from graphtrial.results.statistics.summary import ALPHA, standard_error
from graphtrial.results.statistics.welch import pooled, quantile, smallest, tail

Test = Literal["permutation", "wilcoxon"]
Design = Literal["by split", "by fold and seed", "independent"]
"""Paired by split (mean over seeds), paired by fold (the seed draws the folds), or independent samples of seeds."""


@dataclass(frozen=True)
class Difference:
    """Difference A - B of the mean scores of two models, with its confidence interval and tests.

    `design`: paired by split, paired by fold, or two independent samples on one split, where `pairs` is 0. `std` is the
    standard deviation of the paired differences, or the pooled one of two samples; `ci_low` and `ci_high` bound the
    95 % confidence interval (Student's t with `standard_error` and `dof` degrees of freedom). `p` is two-sided, `p_min`
    the smallest p-value that this number of trials allows, `p_equivalence` that of two one-sided tests (TOST) with the
    equivalence margin `margin`. `effect_size` is mean / std (Cohen's d), none where std is 0; `prob_superiority` the
    probability that a trial of A scores higher than one of B on the same split, ties counted half.
    """

    design: Design
    pairs: int
    trials_a: int
    trials_b: int
    mean: float
    std: float
    ci_low: float
    ci_high: float
    standard_error: float
    dof: float
    p: float
    p_min: float
    p_equivalence: float
    margin: float
    effect_size: float | None
    prob_superiority: float
    overlap: float

    @property
    def excludes_zero(self) -> bool:
        """The confidence interval excludes 0."""
        return self.ci_low > 0 or self.ci_high < 0

    @property
    def is_equivalent(self) -> bool:
        """Equivalence within the margin by TOST at 0.05."""
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
    """Test the difference of two models by their scores on each shared split.

    Needs two splits, or two trials of each model on one. Seeds of two models are unrelated, so the unit of pairing is
    the split: the mean over seeds of A minus that of B. `seed_draws`: the seed draws the folds, and pairs are folds.
    Pairs have the corrected standard error of `standard_error`, two samples on one split that of Welch. The confidence
    interval is clipped to [-limit, limit].
    """
    gaps = np.array([a.mean() - b.mean() for a, b in strata])
    mean = float(gaps.mean())
    design: Design = "independent" if len(strata) == 1 else "by fold and seed" if seed_draws else "by split"
    if design == "independent":
        ((a, b),) = strata
        variances = [float(np.var(scores, ddof=1)) for scores in (a, b)]
        error, dof = pooled(tuple((v / len(x), len(x) - 1.0) for v, x in zip(variances, (a, b), strict=True)))
        std = math.sqrt(sum(v * (len(x) - 1) for v, x in zip(variances, (a, b), strict=True)) / (len(a) + len(b) - 2))
    else:
        std = float(gaps.std(ddof=1))
        error, dof = standard_error(std, len(gaps), overlap), len(gaps) - 1.0
    half = quantile(dof, ALPHA / 2) * error
    wilcoxon = test == "wilcoxon"
    return Difference(
        design=design,
        pairs=0 if design == "independent" else len(gaps),
        trials_a=sum(len(a) for a, _ in strata),
        trials_b=sum(len(b) for _, b in strata),
        mean=mean,
        std=std,
        ci_low=max(mean - half, -limit),
        ci_high=min(mean + half, limit),
        standard_error=error,
        dof=dof,
        p=_ranks_p(strata, gaps) if wilcoxon else permutation_p(strata),
        p_min=smallest_p(_rank_strata(strata)) if wilcoxon else smallest_p(strata),
        p_equivalence=_equivalence(mean, error, dof, margin),
        margin=margin,
        effect_size=mean / std if std > 0 else None,
        prob_superiority=float(np.mean([np.mean(np.sign(a[:, None] - b[None, :]) / 2 + 0.5) for a, b in strata])),
        overlap=overlap,
    )


def seeds_needed(observed: Difference, strata: Sequence[Stratum], seeds: int, alpha: float = ALPHA) -> int | None:
    """Return the number of seeds that decides with 80 % power at the observed difference; none where no number does.

    Decided: significant at the level `alpha` with a confidence interval that excludes 0, or equivalent. Additional
    seeds on the same splits reduce the variance between seeds, not that between splits; where no split has two seeds,
    all variance counts as variance between seeds.
    """
    of_seeds = _seed_variance(strata)
    noise = observed.std**2 * seeds if of_seeds is None else of_seeds
    of_splits = max(0.0, observed.std**2 - noise / seeds)

    def design(number: int) -> tuple[float, float, float]:
        """Return standard error, degrees of freedom and smallest p-value with `number` seeds."""
        ways = math.comb(2 * number, number) if number <= 20 else math.inf
        if observed.design == "independent":
            error, dof = pooled(tuple((v / number, number - 1.0) for v in _variances(strata)))
            return error, dof, 2 / ways
        if observed.design == "by fold and seed":
            pairs = max(2, round(len(strata) / seeds * number))
            return standard_error(observed.std, pairs, observed.overlap), pairs - 1.0, 2.0 ** (1 - min(pairs, 1000))
        std = math.sqrt(of_splits + noise / number)
        return standard_error(std, observed.pairs, observed.overlap), observed.dof, 2 / ways**observed.pairs

    def power(number: int) -> float:
        error, dof, least = design(number)
        apart = _power_difference(observed.mean, error, dof, alpha) if max(least, 1 / RESAMPLES) < alpha else 0.0
        return max(apart, _power_equivalence(observed.mean, error, dof, observed.margin))

    return smallest(power, max(seeds, 2 if observed.design == "independent" else 1))


def _variances(strata: Sequence[Stratum]) -> tuple[float, float]:
    ((a, b),) = strata
    return float(np.var(a, ddof=1)), float(np.var(b, ddof=1))


def _seed_variance(strata: Sequence[Stratum]) -> float | None:
    """Return the variance between seeds of both models, pooled over splits; none where no split has two seeds."""
    variances = []
    for side in (0, 1):
        repeated = [stratum[side] for stratum in strata if len(stratum[side]) > 1]
        if not repeated:
            return None
        variances.append(float(np.mean([np.var(scores, ddof=1) for scores in repeated])))
    return sum(variances)


def _ranks_p(strata: Sequence[Stratum], gaps: np.ndarray) -> float:
    """Return the p-value of Wilcoxon's signed-rank test for pairs, of the Mann-Whitney U test for two samples."""
    if len(strata) > 1:
        return 1.0 if not gaps.any() else float(stats.wilcoxon(gaps).pvalue)
    ((a, b),) = strata
    return float(stats.mannwhitneyu(a, b).pvalue)


def _rank_strata(strata: Sequence[Stratum]) -> Sequence[Stratum]:
    """Return strata of the size that the rank test permutes: one pair for each of several splits."""
    return [(np.zeros(1), np.zeros(1))] * len(strata) if len(strata) > 1 else strata


def _equivalence(mean: float, error: float, dof: float, margin: float) -> float:
    """Return the p-value of two one-sided tests (TOST), Schuirmann 1987: the larger of both."""
    if error == 0:
        return 0.0 if abs(mean) < margin else 1.0
    return tail(dof, (margin - abs(mean)) / error)


def _power_difference(mean: float, error: float, dof: float, alpha: float) -> float:
    if error == 0:
        return float(mean != 0)
    power = float(stats.nct.sf(quantile(dof, alpha / 2), dof, abs(mean) / error))
    return 1.0 if math.isnan(power) else power  # noncentrality too large for the distribution function


def _power_equivalence(mean: float, error: float, dof: float, margin: float) -> float:
    if error == 0:
        return float(abs(mean) < margin)
    limit = quantile(dof, ALPHA)
    sides = [
        float(stats.nct.sf(limit, dof, shift / error)) if shift > 0 else 0.0 for shift in (margin - mean, margin + mean)
    ]
    return max(0.0, sum(1.0 if math.isnan(side) else side for side in sides) - 1)
