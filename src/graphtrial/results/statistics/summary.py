"""Summary statistics of scores with confidence intervals, and Holm's correction for multiple tests."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

ALPHA = 0.05
RESAMPLES = 1000
UNBOUNDED = (-math.inf, math.inf)
PLUS_MINUS = (
    "± is the sample standard deviation (divisor n - 1) over the n trials (splits x seeds), each scored over all "
    "examples of a split; of nested selection, over the means of the runs of each of n folds. [low, high] is the 95 % "
    "confidence interval (CI) of the mean over these trials (Student's t "
    "with n - 1 degrees of freedom). Trials on several splits share training examples; the variance of their mean is "
    "then estimated as std² (1/n + test/train) instead of std²/n (Nadeau and Bengio 2003). It is clipped to the range "
    "of the metric. Under the protocols of Wiki-CS it is, as in the paper, the percentile bootstrap interval of 1,000 "
    "resamples."
)


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation, range and 95 % confidence interval of scores over `n` trials.

    `std` is the sample standard deviation (divisor n - 1); it and the interval are none for a single trial.
    """

    mean: float
    std: float | None
    min: float
    max: float
    n: int
    ci_low: float | None = None
    ci_high: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.std is None else f"{self.mean:.3f}±{self.std:.3f}"

    @property
    def interval(self) -> str:
        """The 95 % confidence interval as in tables, or a dash."""
        return "-" if self.ci_low is None or self.ci_high is None else f"[{self.ci_low:.3f}, {self.ci_high:.3f}]"


def summarise(values: Sequence[float], overlap: float = 0.0, within: tuple[float, float] = UNBOUNDED) -> Summary | None:
    """Summarise scores with a t confidence interval; none where there are no scores.

    `overlap` is the test over the training set size where trials are splits of the same data, see `standard_error`; 0
    where they differ in their seed alone. The interval is clipped to the range `within` of the metric, which does not
    change its coverage.
    """
    if not values:
        return None
    mean = statistics.fmean(values)
    if len(values) == 1 or not math.isfinite(mean):  # an infinite score has no standard deviation
        return Summary(mean, None, min(values), max(values), len(values))
    std = statistics.stdev(values)
    half = t_quantile(len(values) - 1) * standard_error(std, len(values), overlap)
    low, high = max(mean - half, within[0]), min(mean + half, within[1])
    return Summary(mean, std, min(values), max(values), len(values), low, high)


def bootstrapped(values: Sequence[float]) -> Summary | None:
    """Summarise scores with a percentile bootstrap confidence interval of 1,000 resamples.

    The resamples are fixed and independent of the order of the scores.
    """
    summary = summarise(values)
    if summary is None or summary.std is None:
        return summary
    indices = np.random.Generator(np.random.PCG64(0)).integers(summary.n, size=(RESAMPLES, summary.n))
    means = np.sort(np.asarray(values, float))[indices].mean(axis=1)
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2])
    return replace(summary, ci_low=float(low), ci_high=float(high))


def standard_error(std: float, n: int, overlap: float = 0.0) -> float:
    r"""Return the standard error of a mean over trials whose training examples overlap.

    .. math:: s \sqrt{1/n + n_{test}/n_{train}}

    after Nadeau and Bengio 2003, "Inference for the generalization error"; without overlap it is the usual s / √n.
    """
    return std * math.sqrt(1 / n + overlap)


def t_quantile(dof: float) -> float:
    """Return the two-sided 95 % quantile of Student's t."""
    from scipy.special import stdtrit  # slow to import, and tables without error bars need none

    return float(stdtrit(dof, 1 - ALPHA / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm's step-down correction, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = largest
    return adjusted
