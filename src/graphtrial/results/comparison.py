"""Comparison of two rows of one dataset: difference, verdict and conclusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from graphtrial.results.statistics.differences import Difference
from graphtrial.results.statistics.summary import ALPHA

Verdict = Literal["A is better", "B is better", "equivalent", "undecided", "too few trials"]
EXPLANATION = (
    "Models are paired by split, the mean over the seeds of each; on a single split the seeds of both are two "
    "independent samples. p is two-sided, by {test}, with Holm's correction for the number of datasets. A is better: "
    "the corrected p is below 0.05 and the 95 % confidence interval (CI) of the difference (Student's t; Welch's for "
    "two samples) excludes 0. equivalent: two one-sided tests (TOST) with the equivalence margin. too few trials: the "
    "smallest attainable p-value is not below 0.05 after correction. Effect size: mean over standard deviation. More "
    "seeds: number that decides with 80 % power at the observed difference, after correction."
)


@dataclass(frozen=True)
class Comparison:
    """Difference A - B on one dataset.

    `p_holm` is `p` corrected for the number of datasets; `more_seeds` the number of additional seeds that would decide
    with 80 % power, none where no number would. `difference` and its confidence interval have the sign of the metric:
    where lower is better, a negative one favours A.
    """

    dataset: str
    protocol: str
    metric: str
    higher_is_better: bool
    a: str
    b: str
    mean_a: float
    mean_b: float
    seeds: int
    splits: int
    difference: Difference
    p_holm: float
    more_seeds: int | None
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Which model is better, if either."""
        difference = self.difference
        if difference.excludes_zero and self.p_holm < ALPHA:
            return "A is better" if (difference.mean > 0) == self.higher_is_better else "B is better"
        if difference.is_equivalent:
            return "equivalent"
        smallest = difference.p <= difference.p_min * (1 + 1e-9) and self.p_holm >= ALPHA
        return "too few trials" if difference.p_min >= ALPHA or smallest else "undecided"

    @property
    def is_open(self) -> bool:
        """Whether more trials may decide."""
        return self.verdict in ("undecided", "too few trials")

    @property
    def further_seeds(self) -> int | None:
        """Additional seeds that would decide, at least one while the verdict is open: what is there has not decided."""
        return max(1, self.more_seeds) if self.is_open and self.more_seeds is not None else self.more_seeds

    @property
    def basis(self) -> str:
        """Sample sizes: `5 pairs of splits` or `4 trials against 4`."""
        difference = self.difference
        if difference.design == "independent":
            return f"{difference.trials_a} trials against {difference.trials_b}"
        return f"{difference.pairs} pairs of {'folds' if difference.design == 'by fold and seed' else 'splits'}"

    @property
    def conclusion(self) -> str:
        """The verdict as a sentence."""
        difference = self.difference
        interval = f"95 % CI of A - B [{difference.ci_low:.3f}, {difference.ci_high:.3f}]"
        gap = f"{abs(difference.mean):.3f} {self.metric} ({interval}, p = {self.p_holm:.3g})"
        if self.verdict in ("A is better", "B is better"):
            better, other = (self.a, self.b) if self.verdict == "A is better" else (self.b, self.a)
            return f"{better} is better than {other} by {gap} over {self.basis}."
        if self.verdict == "equivalent":
            return f"{self.a} and {self.b} are equivalent within {difference.margin:.3g} {self.metric}: {gap}."
        more = "no number of seeds on these splits would decide"
        if self.further_seeds is not None:
            more = f"about {self.further_seeds} more seed{'s' * (self.further_seeds > 1)} would decide"
        if self.verdict == "too few trials":
            excludes = "excludes 0" if difference.excludes_zero else "includes 0"
            return (
                f"Too few trials for this test: the smallest attainable p-value of {self.basis} is "
                f"{difference.p_min:.3g}{'' if self.p_holm == difference.p else ' before correction'}. A - B is "
                f"{difference.mean:+.3f} {self.metric}, and the {interval} by Student's t {excludes}; {more}."
            )
        if self.p_holm < ALPHA:  # the test is about these splits, the interval about others as well
            return (
                f"{self.a} and {self.b} differ by the test, but the confidence interval includes 0, by {self.basis}: "
                f"{gap}; {more}."
            )
        return f"{self.a} and {self.b} neither differ significantly nor are equivalent by {self.basis}: {gap}; {more}."

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-like values: the shape of `--json`, documented in docs/json.md."""
        from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS  # which imports this module

        return COMPARISON_COLUMNS.to_dict(self)
