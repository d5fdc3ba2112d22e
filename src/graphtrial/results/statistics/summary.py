"""Mean, deviation, range and interval of a few scores, and what to do about many tests at once."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

ALPHA = 0.05
RESAMPLES = 1000
UNBOUNDED = (-math.inf, math.inf)
WHAT_PLUS_MINUS_IS = (
    "± is the sample standard deviation (divisor n - 1) over the n trials (splits x seeds), each scored over all "
    "examples of a split: how far single trials lie apart. [low, high] is the 95 % interval of the mean over these "
    "trials (Student's t with n - 1 degrees of freedom). Trials on several splits share training examples; the "
    "variance of their mean is then taken as s.d.² (1/n + test/train) instead of s.d.²/n (Nadeau and Bengio 2003). It "
    "is cut at the range of the metric. "
    "Under the protocols of Wiki-CS it is, as in the paper, the middle 95 % of 1,000 bootstrap means."
)


@dataclass(frozen=True)
class Summary:
    """Scores over `n` trials; `sd` is the sample standard deviation (divisor n - 1), none for a single trial.

    `low` and `high` are the ends of the 95 % interval of the mean, none for a single trial.
    """

    mean: float
    sd: float | None
    min: float
    max: float
    n: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.sd is None else f"{self.mean:.3f}±{self.sd:.3f}"

    @property
    def interval(self) -> str:
        """The 95 % interval as tables write it, or a dash."""
        return "-" if self.low is None or self.high is None else f"[{self.low:.3f}, {self.high:.3f}]"


def summarise(values: Sequence[float], overlap: float = 0.0, within: tuple[float, float] = UNBOUNDED) -> Summary | None:
    """Return the summary of some scores, or nothing where there are none.

    `overlap` is the number of tested over that of trained examples where the trials are splits of the same data, see
    `standard_error`; 0 where they differ in their seed alone. The interval is cut at the range `within` of the metric,
    which leaves its coverage as it is: the true mean lies in the range.
    """
    if not values:
        return None
    mean = statistics.fmean(values)
    if len(values) == 1 or not math.isfinite(mean):  # an infinite score has no deviation
        return Summary(mean, None, min(values), max(values), len(values))
    sd = statistics.stdev(values)
    half = t_quantile(len(values) - 1) * standard_error(sd, len(values), overlap)
    low, high = max(mean - half, within[0]), min(mean + half, within[1])
    return Summary(mean, sd, min(values), max(values), len(values), low, high)


def bootstrapped(values: Sequence[float]) -> Summary | None:
    """Return the summary of some scores whose interval is the middle 95 % of the means of 1,000 resamples of them.

    The resamples are the same every time, in whatever order a store has the trials.
    """
    found = summarise(values)
    if found is None or found.sd is None:
        return found
    chosen = np.random.Generator(np.random.PCG64(0)).integers(found.n, size=(RESAMPLES, found.n))
    means = np.sort(np.asarray(values, float))[chosen].mean(axis=1)
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2])
    return replace(found, low=float(low), high=float(high))


def standard_error(sd: float, n: int, overlap: float = 0.0) -> float:
    r"""Return the standard error of a mean over trials whose training examples overlap.

    .. math:: s \sqrt{1/n + n_{test}/n_{train}}

    after Nadeau and Bengio 2003, "Inference for the generalization error"; without overlap it is the usual s / √n.
    """
    return sd * math.sqrt(1 / n + overlap)


def t_quantile(freedom: float) -> float:
    """Return how many standard errors a 95 % interval reaches to either side."""
    return float(stdtrit(freedom, 1 - ALPHA / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for their number by Holm's step-down rule, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = largest
    return adjusted
