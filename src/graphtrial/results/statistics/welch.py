"""Difference of two means with unequal errors: Welch's test, two one-sided tests, and the trials that would decide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtr, stdtr, stdtrit

from graphtrial.results.statistics.summary import ALPHA

POWER = 0.8
MOST_TRIALS = 1_000_000


@dataclass(frozen=True)
class Mean:
    """A mean and the independent parts of its squared standard error, each with its degrees of freedom.

    A mean without parts is known exactly. A part that is no estimate, such as rounding, has infinitely many degrees.
    """

    value: float
    parts: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Contrast:
    """The difference of two means: standard error, degrees of freedom, and the p-values of both questions.

    `p` is two-sided, of Welch's test for a difference; `p_equivalence` that of two one-sided tests against differences
    of `margin` and more.
    """

    difference: float
    error: float
    freedom: float
    margin: float
    p: float
    p_equivalence: float

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the difference."""
        half = quantile(self.freedom, ALPHA / 2) * self.error
        return self.difference - half, self.difference + half


def contrast(a: Mean, b: Mean, margin: float) -> Contrast:
    """Compare two means, Welch 1947 and Schuirmann 1987.

    .. math:: \\nu = \\Big(\\sum_i v_i\\Big)^2 \\Big/ \\sum_i v_i^2 / \\nu_i

    over the parts v of both squared errors (Satterthwaite 1946).
    """
    difference = a.value - b.value
    error, freedom = pooled((*a.parts, *b.parts))
    if error == 0:
        return Contrast(difference, 0.0, freedom, margin, float(difference == 0), float(abs(difference) >= margin))
    return Contrast(
        difference,
        error,
        freedom,
        margin,
        p=2 * tail(freedom, abs(difference) / error),
        p_equivalence=tail(freedom, (margin - abs(difference)) / error),
    )


def pooled(parts: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Return the standard error of a sum of independent parts, and its degrees of freedom by Satterthwaite."""
    total = math.fsum(variance for variance, _ in parts)
    weights = math.fsum(variance**2 / freedom for variance, freedom in parts)
    return math.sqrt(total), total**2 / weights if weights else math.inf


def tail(freedom: float, t: float) -> float:
    """Return the probability that Student's t exceeds `t`."""
    return float(ndtr(-t) if math.isinf(freedom) else stdtr(freedom, -t))


def quantile(freedom: float, probability: float) -> float:
    """Return the t that is exceeded with this probability."""
    return float(stdtrit(1e9 if math.isinf(freedom) else freedom, 1 - probability))


def trials_needed(
    difference: float, std: float, other: tuple[tuple[float, float], ...], margin: float, alpha: float, least: int
) -> int | None:
    """Return how many trials of one side decide with 80 % power while the other side stays as it is, or none.

    The true difference and the s.d. of a trial are taken as given, `other` are the parts of the other mean's squared
    error. Decided means that the difference is significant at `alpha`, or within the margin at 0.05. At least `least`.
    """

    def power(trials: int) -> float:
        error, freedom = pooled(((std**2 / trials, trials - 1.0), *other))
        wobble = std / math.sqrt(trials)
        significant = quantile(freedom, alpha / 2) * error
        within = margin - quantile(freedom, ALPHA) * error
        apart = _beyond(abs(difference) - significant, wobble)
        inside = 0.0
        if within > 0:
            inside = max(0.0, _beyond(within - difference, wobble) + _beyond(within + difference, wobble) - 1)
        return max(apart, inside)

    return smallest(power, max(2, least))


def smallest(power: Callable[[int], float], least: int = 2) -> int | None:
    """Return the smallest number from `least` on with a power of 80 %, taken to grow with the number; or none."""
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


def _beyond(distance: float, wobble: float) -> float:
    """Return the probability that a normal variable of this s.d. stays on its side of a limit this far away."""
    return float(ndtr(distance / wobble)) if wobble else float(distance > 0)
