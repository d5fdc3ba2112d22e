"""Welch's t-test, two one-sided tests (TOST) and power analysis for two means with unequal variances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from graphtrial.results.statistics.summary import ALPHA

POWER = 0.8
MOST_TRIALS = 1_000_000


@dataclass(frozen=True)
class Mean:
    """A mean and the independent components of its squared standard error, each with its degrees of freedom.

    A mean without components is exact. A component of known variance, such as rounding, has infinite `dof`.
    """

    value: float
    parts: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Contrast:
    """Difference of two means with its standard error and Welch-Satterthwaite degrees of freedom.

    `p` is the two-sided p-value of Welch's t-test, `p_equivalence` that of two one-sided tests (TOST) with the
    equivalence margin `margin`.
    """

    difference: float
    standard_error: float
    dof: float
    margin: float
    p: float
    p_equivalence: float

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the difference."""
        half = quantile(self.dof, ALPHA / 2) * self.standard_error
        return self.difference - half, self.difference + half


def contrast(a: Mean, b: Mean, margin: float) -> Contrast:
    """Test the difference of two means by Welch's t-test (1947) and by TOST (Schuirmann 1987).

    .. math:: \\nu = \\Big(\\sum_i v_i\\Big)^2 \\Big/ \\sum_i v_i^2 / \\nu_i

    over the components v of both squared standard errors (Satterthwaite 1946).
    """
    difference = a.value - b.value
    error, dof = pooled((*a.parts, *b.parts))
    if error == 0:
        return Contrast(difference, 0.0, dof, margin, float(difference == 0), float(abs(difference) >= margin))
    return Contrast(
        difference,
        error,
        dof,
        margin,
        p=2 * tail(dof, abs(difference) / error),
        p_equivalence=tail(dof, (margin - abs(difference)) / error),
    )


def pooled(parts: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Return the standard error from independent variance components, and its Satterthwaite degrees of freedom."""
    total = math.fsum(variance for variance, _ in parts)
    weights = math.fsum(variance**2 / dof for variance, dof in parts)
    return math.sqrt(total), total**2 / weights if weights else math.inf


def tail(dof: float, t: float) -> float:
    """Survival function of Student's t; of the normal distribution for infinite `dof`."""
    from scipy.special import ndtr, stdtr

    return float(ndtr(-t) if math.isinf(dof) else stdtr(dof, -t))


def quantile(dof: float, probability: float) -> float:
    """Inverse survival function of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(1e9 if math.isinf(dof) else dof, 1 - probability))


def trials_needed(
    difference: float, std: float, other: tuple[tuple[float, float], ...], margin: float, alpha: float, least: int
) -> int | None:
    """Return the sample size of one side that decides with 80 % power, the other side fixed; none where none does.

    `difference` and `std` are taken as the true values, `other` are the variance components of the other mean. Decided:
    significant at `alpha`, or equivalent at 0.05. The result is at least `least`.
    """

    def power(trials: int) -> float:
        error, dof = pooled(((std**2 / trials, trials - 1.0), *other))
        std_error = std / math.sqrt(trials)
        significant = quantile(dof, alpha / 2) * error
        within = margin - quantile(dof, ALPHA) * error
        apart = _beyond(abs(difference) - significant, std_error)
        inside = 0.0
        if within > 0:
            inside = max(0.0, _beyond(within - difference, std_error) + _beyond(within + difference, std_error) - 1)
        return max(apart, inside)

    return smallest(power, max(2, least))


def smallest(power: Callable[[int], float], least: int = 2) -> int | None:
    """Return the smallest sample size >= `least` with 80 % power, by bisection (power is monotone); or none."""
    if power(least) >= POWER:
        return least
    low, high = least, 2 * least
    while power(high) < POWER:
        low, high = high, 2 * high
        if high > MOST_TRIALS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def _beyond(distance: float, std_error: float) -> float:
    """Return the normal probability of staying below a limit at `distance`."""
    from scipy.special import ndtr

    return float(ndtr(distance / std_error)) if std_error else float(distance > 0)
