"""Two rows of the store against each other, dataset by dataset, with a verdict in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import parse_value
from graphtrial.metrics import metric_range
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.differences import Difference, Test, difference, seeds_needed
from graphtrial.results.statistics.permutation import Array, Stratum
from graphtrial.results.statistics.summary import ALPHA, holm
from graphtrial.results.titles import label_title

RELATIVE_MARGIN = 0.01
Verdict = Literal["A is better", "B is better", "equivalent", "undecided", "too few trials"]
EXPLANATION = (
    "Models are paired by split, the seeds of each averaged: seeds of two models have nothing in common. On a single "
    "split the seeds of both are two independent samples. p is two-sided, by {test}, and corrected for the number of "
    "datasets by Holm's rule. A model is called better when the corrected p is below 0.05 and the 95 % interval of the "
    "difference (Student's t; Welch's of two samples) has no 0 in it; equivalent when two one-sided tests rule out "
    "differences of the margin and more. Too few trials: no scores could have brought the test below 0.05. Effect: "
    "mean over s.d. More seeds: how many would settle it with 80 % power if the differences go on as they are."
)


@dataclass(frozen=True)
class Comparison:
    """A - B on one dataset; `p_holm` is `p` corrected for the number of datasets, `more_seeds` none if none settles it.

    `difference` and its interval have the metric's own sign: where lower is better, a negative one favours A.
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
        """Who is better, if anyone."""
        found = self.difference
        if found.excludes_zero and self.p_holm < ALPHA:
            return "A is better" if (found.mean > 0) == self.higher_is_better else "B is better"
        if found.is_equivalent:
            return "equivalent"
        at_least = found.p <= found.p_min * (1 + 1e-9) and self.p_holm >= ALPHA
        return "too few trials" if found.p_min >= ALPHA or at_least else "undecided"

    @property
    def basis(self) -> str:
        """What was compared, in words: `5 pairs of splits` or `4 trials against 4`."""
        found = self.difference
        if found.design == "independent":
            return f"{found.trials_a} trials against {found.trials_b}"
        return f"{found.pairs} pairs of {'folds' if found.design == 'by fold and seed' else 'splits'}"

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        found = self.difference
        gap = f"{abs(found.mean):.3f} {self.metric} ({_interval(found)}, p = {self.p_holm:.3g})"
        if self.verdict in ("A is better", "B is better"):
            better, other = (self.a, self.b) if self.verdict == "A is better" else (self.b, self.a)
            return f"{better} is better than {other} by {gap} over {self.basis}."
        if self.verdict == "equivalent":
            return f"{self.a} and {self.b} differ by less than {found.margin:.3g} {self.metric}: {gap}."
        more = "no number of seeds on these splits would settle it"
        if self.more_seeds is not None:
            more = f"about {self.more_seeds} more seeds would settle it"
        if self.verdict == "too few trials":
            outside = "has no 0 in it" if found.excludes_zero else "has 0 in it"
            return (
                f"Too few trials for this test: {self.basis} cannot give p below {found.p_min:.3g}"
                f"{'' if self.p_holm == found.p else ' before the correction'}. What can be said: A - B is "
                f"{found.mean:+.3f} {self.metric}, and the {_interval(found)} by Student's t {outside}; {more}."
            )
        return f"{self.a} and {self.b} cannot be told apart, nor called equivalent, by {self.basis}: {gap}; {more}."

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-like values: the shape of `--json`, documented in docs/json.md."""
        from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS  # which is about comparisons

        return COMPARISON_COLUMNS.to_dict(self)


def compare(
    rows: Sequence[ResultRow],
    a: str,
    b: str,
    *,
    datasets: Sequence[str] = (),
    test: Test = "permutation",
    margin: float | None = None,
) -> list[Comparison]:
    """Compare two models on every dataset, or these, on which both were tried under the same protocol.

    A and B are written as in `matches`. The margin of equivalence is in units of the metric; without one it is 1 % of
    B's mean.
    """
    found = []
    for dataset in datasets or dict.fromkeys(row.first.spec.dataset for row in rows):
        here = [row for row in rows if row.first.spec.dataset == dataset]
        for first, second in _partners(here, a, b, dataset):
            made = compare_rows(first, second, test=test, margin=margin)
            if made is not None:
                found.append(made)
    if not found:
        where = f"{', '.join(datasets)} of this store" if datasets else "any dataset of this store"
        known = ", ".join(dict.fromkeys(row.name for row in rows)) or "none"
        raise GraphTrialError(
            f"'{a}' and '{b}' share neither two splits nor two trials of each on one split of {where}; "
            f"the models in it are {known}"
        )
    corrected = holm([one.difference.p for one in found])
    return [replace(one, p_holm=p) for one, p in zip(found, corrected, strict=True)]


def compare_rows(
    a: ResultRow, b: ResultRow, *, test: Test = "permutation", margin: float | None = None
) -> Comparison | None:
    """Compare two rows of one dataset on the splits that both have; nothing where these are too few for an interval."""
    strata, seeds = _strata(a, b)
    if not strata or (len(strata) == 1 and min(map(len, strata[0])) < 2):
        return None
    mean_a, mean_b = (math.fsum(pair[side].mean() for pair in strata) / len(strata) for side in (0, 1))
    limit = RELATIVE_MARGIN * abs(mean_b) if margin is None else margin
    low, high = metric_range(a.first.metric)
    found = difference(
        strata,
        limit,
        overlap=a.overlap if len(strata) > 1 else 0.0,
        seed_draws=seed_draws_folds(a),
        test=test,
        limit=high - low,
    )
    needed = seeds_needed(found, strata, seeds)
    spec = a.first.spec
    return Comparison(
        dataset=spec.dataset,
        protocol=spec.protocol,
        metric=a.first.metric,
        higher_is_better=a.first.higher_is_better,
        a=a.name,
        b=b.name,
        mean_a=mean_a,
        mean_b=mean_b,
        seeds=seeds,
        splits=len({split for split, _ in _scores(a).keys() & _scores(b).keys()}),
        difference=found,
        p_holm=found.p,
        more_seeds=None if needed is None else max(0, needed - seeds),
        notes=_notes(a, b),
    )


def matches(row: ResultRow, wanted: str) -> bool:
    """Tell whether a row is meant by `model`, `model/encoding` or `model/setting=value`, in any order after the model.

    The model is its name or its label, such as `gatedgcn-E`, or as tables write it; what is not mentioned may be
    anything.
    """
    model, *rest = wanted.split("/")
    arguments = row.first.spec.settings
    if model not in (row.first.spec.model.name, row.label, label_title(row)):
        return False
    for part in rest:
        key, equals, value = part.partition("=")
        if equals and ":" not in key:
            if key not in arguments or (arguments[key] != parse_value(value) and row.setting(key) != value):
                return False
        elif part != row.encoding:
            return False
    return True


def _partners(rows: Sequence[ResultRow], a: str, b: str, dataset: str) -> list[tuple[ResultRow, ResultRow]]:
    """Return the rows to compare, one pair for each protocol and state of the data that has both."""
    groups: dict[tuple[str, str], list[ResultRow]] = {}
    for row in rows:
        groups.setdefault((row.first.spec.protocol, row.first.spec.data), []).append(row)
    found = []
    for group in groups.values():
        left, right = [r for r in group if matches(r, a)], [r for r in group if matches(r, b)]
        if not left or not right:
            continue
        for wanted, several in ((a, left), (b, right)):
            if len(several) > 1:
                listed = ", ".join(row.name for row in several)
                raise GraphTrialError(
                    f"'{wanted}' may mean several rows on {dataset}: {listed}. Add an encoding or a setting, as there."
                )
        found.append((left[0], right[0]))
    return found


def seed_draws_folds(row: ResultRow) -> bool:
    """Tell whether the seed draws the folds, so that both models have the same ones only with the same seed."""
    return row.first.spec.kind.draws_folds


def _strata(a: ResultRow, b: ResultRow) -> tuple[list[Stratum], int]:
    """Return the scores of both rows on each split that both have, and with how many seeds."""
    of_a, of_b = _scores(a), _scores(b)
    shared = sorted(of_a.keys() & of_b.keys())
    strata = [(of_a[key], of_b[key]) for key in shared]
    if seed_draws_folds(a):
        return strata, len({seed for _, seed in shared})
    return strata, min((min(map(len, pair)) for pair in strata), default=0)


def _scores(row: ResultRow) -> dict[tuple[int, int], Array]:
    """Return the finite scores on each split: one for each seed, or a single one where the seed draws the folds."""
    found: dict[tuple[int, int], list[float]] = {}
    draws = seed_draws_folds(row)
    for trial in row.trials:
        if math.isfinite(score := trial.scores.get("test", math.nan)):  # an infinite one has no difference to another
            found.setdefault((trial.spec.split, trial.spec.seed if draws else 0), []).append(score)
    return {key: np.array(scores) for key, scores in found.items()}


def _notes(a: ResultRow, b: ResultRow) -> tuple[str, ...]:
    notes = []
    shared = _scores(a).keys() & _scores(b).keys()
    for row in (a, b):
        left = sum(len(scores) for key, scores in _scores(row).items() if key not in shared)
        if left:
            notes.append(f"{left} trials of {row.name} are on splits that the other has not and are left out")
    if a.first.spec.rules != b.first.spec.rules:
        notes.append("the two were trained by different rules of the same protocol, or by changed ones")
    return tuple(notes)


def _interval(found: Difference) -> str:
    return f"95 % interval of A - B [{found.ci_low:.3f}, {found.ci_high:.3f}]"
