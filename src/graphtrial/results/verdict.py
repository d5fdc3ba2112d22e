"""Our score against the published one: reproduced, different, or not decided, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from graphtrial.metrics import metric_range
from graphtrial.published import PublishedResult
from graphtrial.results.statistics.samples import Sample, our_sample, published_sample
from graphtrial.results.statistics.summary import ALPHA, holm
from graphtrial.results.statistics.welch import Contrast, contrast, trials_needed

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow

Kind = Literal["reproduced", "differs", "inconclusive", "not comparable", "nothing published"]
Direction = Literal["better", "worse"]
SIZE_TOLERANCE = 0.05
MARGIN_STDS = 2.0
MARGIN_SHARE = 0.01
EXPLANATION = (
    "reproduced: two one-sided tests at 0.05 put ours minus the published mean within a margin, the larger of twice "
    "the published sample s.d. and 1 % of the published score. differs: Welch's test rejects equal means at 0.05 after "
    "Holm's correction over the compared rows of the table, and the margin does not hold. inconclusive: neither; the "
    "reason says how many further trials would decide with 80 % power, or that none would. Both means carry their "
    "error, the published one that of its rounding too."
)


@dataclass(frozen=True)
class Verdict:
    """Whether a row reproduces the published one, and the reason in words.

    `difference` is ours minus theirs with its 95 % interval; `p` that of Welch's test, `p_holm` corrected for the
    table, `p_equivalence` that of two one-sided tests against `margin`. `direction` is the sign of a significant
    difference, which a reproduced row may have too. `further_trials` is set where it is inconclusive, and none where no
    number of trials here would decide.
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
    further_trials: int | None = None

    @property
    def label(self) -> str:
        """The verdict as tables write it; a difference with its sign."""
        return f"differs ({self.direction})" if self.kind == "differs" else self.kind

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-like values."""
        return asdict(self)


NOTHING_PUBLISHED = Verdict("nothing published", "the papers have no row for this model, encoding and protocol")


@dataclass(frozen=True)
class _Case:
    """A row beside its published one, both as samples, and the test of their difference where there is one."""

    ours: Sample
    theirs: Sample
    margin: float
    better: bool
    reach: float
    facts: str
    test: Contrast | None


def verdicts(rows: Sequence[ResultRow]) -> list[Verdict]:
    """Judge the rows of one or more tables; p-values are corrected within each dataset, protocol and data hash."""
    tables: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows):
        spec = row.first.spec
        tables.setdefault((spec.dataset, spec.protocol, spec.data), []).append(place)
    found = [_case(row) for row in rows]
    decided: dict[int, Verdict] = {}
    for places in tables.values():
        tested = {i: case.test.p for i in places if isinstance(case := found[i], _Case) and case.test is not None}
        corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
        open_tests = max(1, sum(p >= ALPHA for p in corrected.values()))
        for i in places:
            case = found[i]
            decided[i] = case if isinstance(case, Verdict) else _decide(case, corrected.get(i), len(tested), open_tests)
    return [decided[place] for place in range(len(rows))]


def tally(rows: Sequence[ResultRow]) -> tuple[Counter[str], Counter[str]]:
    """Count verdicts by label: those of rows by the published data and rules, and apart from them all others."""
    faithful = Counter(row.verdict.label for row in rows if not row.departures)
    return faithful, Counter(row.verdict.label for row in rows if row.departures)


def _case(row: ResultRow) -> _Case | Verdict:
    printed = row.published
    if printed is None:
        return NOTHING_PUBLISHED
    where = f"{printed.paper}, table {printed.table}"
    obstacle = _obstacle(row, printed)
    if obstacle or printed.test is None:
        return Verdict("not comparable", f"{obstacle} ({where})")
    test = row.scores("test")
    ours, theirs = our_sample(row, printed.test), published_sample(row, printed.test)
    facts = (
        f"ours {test} (n = {test.n if test else 0}), published {printed.test.text} "
        f"(n = {printed.test.n or 'not stated'}), {where}"
    )
    if not math.isfinite(ours.mean):
        return Verdict("not comparable", f"a score here is not finite: {facts}")
    margin = max(MARGIN_STDS * (theirs.std or 0.0), MARGIN_SHARE * abs(theirs.mean), theirs.rounding)
    compared = None
    if ours.parts is not None and theirs.parts is not None:
        compared = contrast(ours.estimate, theirs.estimate, margin)
    better = (ours.mean > theirs.mean) == printed.higher_is_better
    low, high = metric_range(row.first.metric)
    return _Case(ours, theirs, margin, better, high - low, facts, compared)


def _obstacle(row: ResultRow, printed: PublishedResult) -> str | None:
    """Return why the two numbers measure different things, or nothing."""
    for departure in row.departures:
        if not departure.comparable:
            return f"{departure.badge}: {departure.reason}"
    if printed.doubtful:
        return "the published cell itself is doubtful"
    if row.params and printed.params_exact and row.has_epochs:
        off = row.params / printed.params_exact - 1
        if abs(off) > SIZE_TOLERANCE:
            return f"the models differ in size: {row.params} parameters here, {printed.params} there ({off:+.0%})"
    if row.first.higher_is_better != printed.higher_is_better:
        return f"the metrics differ: {row.first.metric} here, {printed.metric} there"
    if row.scores("test") is None:
        return "no trial here has a score yet"
    return f"the paper prints no score: {printed.status}" if printed.test is None else None


def _decide(case: _Case, p_holm: float | None, tested: int, open_tests: int) -> Verdict:
    """Return the verdict on one row of a table with `tested` tests, `open_tests` of which have not rejected."""
    found, direction = case.test, "better" if case.better else "worse"
    if found is None or p_holm is None:
        return _untested(case, open_tests + 1)
    low, high = (min(max(end, -case.reach), case.reach) for end in found.interval())
    significant = p_holm < ALPHA
    verdict = Verdict(
        "inconclusive",
        "",
        direction=direction if significant else None,  # type: ignore[arg-type]
        difference=found.difference,
        ci_low=low,
        ci_high=high,
        margin=case.margin,
        p=found.p,
        p_holm=p_holm,
        p_equivalence=found.p_equivalence,
    )
    gap, notes = f"{found.difference:+.3f}", "".join(f"; {note}" for note in (*case.ours.notes, *case.theirs.notes))
    if found.p_equivalence < ALPHA:
        sign = f", significantly {direction} all the same ({_p(p_holm)})" if significant else ""
        why = f"a difference of {gap} is within the margin of {case.margin:.3g}, {_p(found.p_equivalence)}{sign}"
        return replace(verdict, kind="reproduced", reason=f"{why}: {case.facts}{notes}")
    if significant:
        rows = f"{tested} row{'s' if tested > 1 else ''}"
        why = f"{direction} by {abs(found.difference):.3f}, {_p(p_holm)} after correction for {rows}"
        return replace(verdict, kind="differs", reason=f"{why}: {case.facts}{notes}")
    needed = _further(case, open_tests)
    why = (
        f"a difference of {gap} is neither significant ({_p(p_holm)}) nor within the margin of {case.margin:.3g} "
        f"({_p(found.p_equivalence)}); {_decides(needed)}"
    )
    return replace(verdict, reason=f"{why}: {case.facts}{notes}", further_trials=needed)


def _untested(case: _Case, open_tests: int) -> Verdict:
    """Return the verdict where one of the two means has no known error."""
    gap = case.ours.mean - case.theirs.mean
    found = Verdict("inconclusive", "", difference=gap, margin=case.margin)
    if case.theirs.parts is None:
        why = "the paper prints no s.d. with a number of runs, so that the error of its mean is not known"
        return replace(found, reason=f"{why}; {_decides(None)}: {case.facts}")
    needed = _further(case, open_tests)
    why = f"a difference of {gap:+.3f} from a single trial, which has no s.d. of its own"
    supposed = " if they vary as the published runs do" if needed is not None else ""
    return replace(found, reason=f"{why}; {_decides(needed)}{supposed}: {case.facts}", further_trials=needed)


def _further(case: _Case, open_tests: int) -> int | None:
    """Return how many further trials here would decide, or none; those of a single trial vary like the published."""
    ours, theirs = case.ours, case.theirs
    std = ours.std if ours.std is not None else theirs.std
    if std is None or theirs.parts is None or (ours.std == 0 and ours.n > 1):
        return None
    gap = ours.mean - theirs.mean
    needed = trials_needed(gap, std, theirs.parts, case.margin, ALPHA / open_tests, ours.n + 1)
    return None if needed is None else (needed - ours.n) * ours.trials_each


def _decides(needed: int | None) -> str:
    if needed is None:
        return "no number of further trials here would decide it"
    return f"about {needed} further trial{'s' if needed > 1 else ''} would decide it"


def _p(p: float) -> str:
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"
