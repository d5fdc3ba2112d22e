"""Verdict on a row: is the published score reproduced, by equivalence and difference tests, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from graphtrial.metrics import metric_range
from graphtrial.published.configurations import AS_PUBLISHED
from graphtrial.results.departures import obstacle, remarks
from graphtrial.results.statistics.samples import Sample, our_sample, published_sample
from graphtrial.results.statistics.summary import ALPHA, holm
from graphtrial.results.statistics.welch import Contrast, contrast, trials_needed

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow

Kind = Literal["reproduced", "differs", "inconclusive", "not comparable", "nothing published"]
Direction = Literal["better", "worse"]
MARGIN_STDS = 2.0
RELATIVE_MARGIN = 0.01
EXPLANATION = (
    "reproduced: ours minus the published mean is within the equivalence margin by two one-sided tests (TOST) at "
    "0.05; the margin is the larger of twice the published sample standard deviation and 1 % of the published score. "
    "differs: not reproduced, and Welch's t-test rejects equal means at 0.05 after Holm's correction over the compared "
    "rows of the table. inconclusive: neither; the reason names the number of further trials that would decide with "
    "80 % power, if any. Both means have a standard error, the published one also that of rounding."
)


@dataclass(frozen=True)
class Verdict:
    """Whether a row reproduces the published one, and the reason.

    `difference` is ours minus theirs with its 95 % confidence interval; `p` that of Welch's t-test, `p_holm` after
    Holm's correction within the table, `p_equivalence` that of two one-sided tests (TOST) with the equivalence margin
    `margin`. `direction` is the sign of a significant difference, which a reproduced row may have too.
    `required_trials` is set for an inconclusive row, none where no number of trials would decide.
    """

    kind: Kind
    reason: str
    direction: Direction | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    margin: float | None = None
    p: float | None = None
    p_holm: float | None = None
    p_equivalence: float | None = None
    required_trials: int | None = None

    @property
    def label(self) -> str:
        """The verdict as in tables; a difference with its direction."""
        return f"differs ({self.direction})" if self.kind == "differs" else self.kind

    @property
    def is_comparison(self) -> bool:
        """Whether the row and the published one may be compared at all."""
        return self.kind in ("reproduced", "differs", "inconclusive")

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-like values."""
        return asdict(self)


NOTHING_PUBLISHED = Verdict("nothing published", "the papers have no row for this model, encoding and protocol")


@dataclass(frozen=True)
class _Case:
    """Our row and the published one as samples, and the test of their difference, if both have a standard error."""

    ours: Sample
    theirs: Sample
    margin: float
    better: bool
    max_difference: float
    facts: str
    test: Contrast | None


def verdicts(rows: Sequence[ResultRow]) -> list[Verdict]:
    """Return the verdicts on the rows of one or more tables; p-values are corrected within each table.

    A table is a dataset, protocol in either edition, and data hash.
    """
    tables: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows):
        spec = row.first.spec
        tables.setdefault((spec.dataset, spec.protocol.replace(f"{AS_PUBLISHED}@", "@"), spec.data), []).append(place)
    cases = [_case(row) for row in rows]
    decided: dict[int, Verdict] = {}
    for places in tables.values():
        tested = {i: case.test.p for i in places if isinstance(case := cases[i], _Case) and case.test is not None}
        corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
        open_tests = max(1, sum(p >= ALPHA for p in corrected.values()))
        for i in places:
            case = cases[i]
            decided[i] = case if isinstance(case, Verdict) else _decide(case, corrected.get(i), len(tested), open_tests)
    return [decided[place] for place in range(len(rows))]


def tally(rows: Sequence[ResultRow]) -> tuple[Counter[str], Counter[str]]:
    """Count verdicts by label, separately for rows without and with departures from the published experiment."""
    faithful = Counter(row.verdict.label for row in rows if not row.departures)
    return faithful, Counter(row.verdict.label for row in rows if row.departures)


def _case(row: ResultRow) -> _Case | Verdict:
    printed = row.published
    if printed is None:
        return NOTHING_PUBLISHED
    where = printed.where
    why = obstacle(row, printed)
    if why or printed.test is None:
        return Verdict("not comparable", f"{why}; {where}")
    test = row.scores("test")
    ours, theirs = our_sample(row, printed.test), published_sample(row, printed.test)
    facts = (
        f"ours {test} (n = {test.n if test else 0}), published {printed.test.text} "
        f"(n = {printed.test.n or 'not stated'}), {where}{remarks(row, printed)}"
    )
    if not math.isfinite(ours.mean):
        return Verdict("not comparable", f"a score of ours is not finite: {facts}")
    margin = max(MARGIN_STDS * (theirs.std or 0.0), RELATIVE_MARGIN * abs(theirs.mean), theirs.rounding)
    test_of_means = None
    if ours.parts is not None and theirs.parts is not None:
        test_of_means = contrast(ours.estimate, theirs.estimate, margin)
    better = (ours.mean > theirs.mean) == printed.higher_is_better
    low, high = metric_range(row.first.metric)
    return _Case(ours, theirs, margin, better, high - low, facts, test_of_means)


def _decide(case: _Case, p_holm: float | None, tested: int, open_tests: int) -> Verdict:
    """Return the verdict on one row of a table with `tested` tests, `open_tests` of which do not reject."""
    test, direction = case.test, "better" if case.better else "worse"
    if test is None or p_holm is None:
        return _untested(case, open_tests + 1)
    low, high = (min(max(end, -case.max_difference), case.max_difference) for end in test.interval())
    significant = p_holm < ALPHA
    verdict = Verdict(
        "inconclusive",
        "",
        direction=direction if significant else None,  # type: ignore[arg-type]
        difference=test.difference,
        ci_low=low,
        ci_high=high,
        margin=case.margin,
        p=test.p,
        p_holm=p_holm,
        p_equivalence=test.p_equivalence,
    )
    gap, notes = f"{test.difference:+.3f}", "".join(f"; {note}" for note in (*case.ours.notes, *case.theirs.notes))
    if test.p_equivalence < ALPHA:
        sign = f", though significantly {direction} ({_p(p_holm)})" if significant else ""
        why = f"a difference of {gap} is within the margin of {case.margin:.3g}, {_p(test.p_equivalence)}{sign}"
        return replace(verdict, kind="reproduced", reason=f"{why}: {case.facts}{notes}")
    if significant:
        rows = f"{tested} row{'s' if tested > 1 else ''}"
        why = f"{direction} by {abs(test.difference):.3f}, {_p(p_holm)} after correction for {rows}"
        return replace(verdict, kind="differs", reason=f"{why}: {case.facts}{notes}")
    needed = _required_trials(case, open_tests)
    why = (
        f"a difference of {gap} is neither significant ({_p(p_holm)}) nor within the margin of {case.margin:.3g} "
        f"({_p(test.p_equivalence)}); {_decides(needed)}"
    )
    return replace(verdict, reason=f"{why}: {case.facts}{notes}", required_trials=needed)


def _untested(case: _Case, open_tests: int) -> Verdict:
    """Return the verdict where the standard error of one of the two means is unknown."""
    gap = case.ours.mean - case.theirs.mean
    verdict = Verdict("inconclusive", "", difference=gap, margin=case.margin)
    if case.theirs.parts is None:
        why = "no std with a number of runs is known: the standard error of the published mean is unknown"
        return replace(verdict, reason=f"{why}; {_decides(None)}: {case.facts}")
    needed = _required_trials(case, open_tests)
    why = f"a difference of {gap:+.3f} from a single trial, whose std is undefined"
    assumed = ", assuming the published std" if needed is not None else ""
    return replace(verdict, reason=f"{why}; {_decides(needed)}{assumed}: {case.facts}", required_trials=needed)


def _required_trials(case: _Case, open_tests: int) -> int | None:
    """Return the number of further trials that would decide, or none; a single trial has the published std."""
    ours, theirs = case.ours, case.theirs
    std = ours.std if ours.std is not None else theirs.std
    if std is None or theirs.parts is None or (ours.std == 0 and ours.n > 1):
        return None
    gap = ours.mean - theirs.mean
    needed = trials_needed(gap, std, theirs.parts, case.margin, ALPHA / open_tests, ours.n + 1)
    return None if needed is None else (needed - ours.n) * ours.trials_each


def _decides(needed: int | None) -> str:
    if needed is None:
        return "no number of further trials would decide"
    return f"about {needed} further trial{'s' if needed > 1 else ''} would decide"


def _p(p: float) -> str:
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"
