"""Our score against the published one: do they agree within what chance does, and why."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from scipy.special import stdtr

from graphtrial.published import PublishedRow, Score
from graphtrial.report.stats import ALPHA, Summary, t_quantile

if TYPE_CHECKING:
    from graphtrial.report.rows import ResultRow

Verdict = Literal["agrees", "better", "worse", "not comparable", "nothing published"]
SIZE_TOLERANCE = 0.05
OTHER_DATA = {
    ("bgnn-v5", "cycles"): "the published graphs were never released, these are of another generator",
}
"""Papers and beginnings of names of datasets whose graphs are of another distribution than the published ones."""
EXPLANATION = (
    "agrees: ours and the published mean differ by no more than sampling error, by Welch's test at 0.05 from both "
    "means, deviations and numbers of runs, or by no more than the rounding of the printed digits. Where all runs of "
    "one side gave the same score they are taken to vary as much as the others. The papers' deviations are taken as "
    "those of NumPy (divisor n). Both are about the same data, so that splits which share training examples need no "
    "correction here. better or worse: they differ by more."
)


@dataclass(frozen=True)
class Agreement:
    """A verdict and its reason in words.

    `difference` is ours minus theirs, [`low`, `high`] its 95 % interval and `p` that of Welch's test, where there are
    such.
    """

    verdict: Verdict
    reason: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as JSON-like values."""
        return asdict(self)


def agreement(row: ResultRow) -> Agreement:
    """Say whether a row agrees with the published number beside it."""
    printed = row.published
    if printed is None:
        return Agreement("nothing published", "the papers have no row for this model, encoding and protocol")
    where = f"{printed.paper}, table {printed.table}"
    ours, obstacle = row.scores("test"), _obstacle(row, printed)
    if obstacle:
        return Agreement("not comparable", f"{obstacle} ({where})")
    if ours is None or printed.test is None:
        lacking = "no trial here has a score yet" if ours is None else f"the paper prints no score: {printed.status}"
        return Agreement("not comparable", f"{lacking} ({where})")
    return _judge(ours, printed.test, printed.higher_is_better, where)


def _obstacle(row: ResultRow, printed: PublishedRow) -> str | None:
    """Return why the two numbers measure different things, or nothing."""
    if row.changes:
        return f"the rules here differ from the protocol: {row.changes}"
    for (paper, data), why in OTHER_DATA.items():
        if paper == printed.paper and row.first.spec.dataset.startswith(data):
            return why
    if "DOUBTFUL" in printed.note:
        return "the published cell itself is doubtful"
    if row.params and printed.params and row.has_epochs:
        off = row.params / printed.params - 1
        if abs(off) > SIZE_TOLERANCE:
            return f"the models differ in size: {row.params} parameters here, {printed.params} there ({off:+.0%})"
    if row.first.higher_is_better != printed.higher_is_better:
        return f"the metrics differ: {row.first.metric} here, {printed.metric} there"
    return None


def _judge(ours: Summary, theirs: Score, higher_is_better: bool, where: str) -> Agreement:
    gap = ours.mean - theirs.mean
    spread, runs, assumed = _spread(theirs)
    facts = f"ours {ours} (n = {ours.n}), published {theirs.printed} (n = {theirs.n or 'not stated'}), {where}"
    digits = _rounding(theirs)
    own, mine = ours.sd, ours.n
    if own is None and spread is not None:
        own, assumed = spread, [*assumed, "a single trial here, whose spread is taken to be the published one"]
    if own is None or spread is None:
        return Agreement("not comparable", f"neither a spread of ours nor a published one is known; {facts}", gap)
    if not (own and spread) and (own or spread):  # equal scores, such as 100 %, are no proof that nothing varies
        side, own, spread = ("here" if spread else "there"), own or spread, spread or own
        assumed = [*assumed, f"all runs {side} gave one score; their spread is taken to be that of the others"]
    error_ours, error_theirs = own**2 / mine, spread**2 / runs
    error = math.sqrt(error_ours + error_theirs)
    low = high = p = None
    if error > 0:
        freedom = _welch(error_ours, max(1, mine - 1), error_theirs, max(1, runs - 1))
        half = t_quantile(freedom) * error
        low, high, p = gap - half, gap + half, _p(gap / error, freedom)
    note = f" ({'; '.join(assumed)})" if assumed else ""
    if abs(gap) <= digits * (1 + 1e-9):
        return Agreement("agrees", f"equal to the printed digits: {facts}{note}", gap, low, high, p)
    if p is not None and p >= ALPHA:
        return Agreement(
            "agrees",
            f"a difference of {gap:+.3f} is within sampling error, p = {p:.2g}: {facts}{note}",
            gap,
            low,
            high,
            p,
        )
    better = (gap > 0) == higher_is_better
    why = "neither varies" if p is None else f"p = {p:.2g}"
    word: Verdict = "better" if better else "worse"
    return Agreement(
        word, f"a difference of {gap:+.3f} is more than sampling error, {why}: {facts}{note}", gap, low, high, p
    )


def _spread(theirs: Score) -> tuple[float | None, int, list[str]]:
    """Return the sample deviation behind a printed score, the number of runs, and what had to be assumed."""
    runs, assumed = theirs.n, []
    if runs is None or runs < 2:
        runs = 2
        assumed.append("the paper does not state how many runs; two are assumed")
    if theirs.ci95_half_width is not None:
        return theirs.ci95_half_width / t_quantile(runs - 1) * math.sqrt(runs), runs, assumed
    if theirs.sd_all_runs is not None:  # TUDataset prints the deviation of repetitions first, and this one beside it
        return theirs.sd_all_runs * math.sqrt(runs / (runs - 1)), runs, assumed
    if theirs.sd is None:
        return None, runs, assumed
    if theirs.sd_is_upper_bound:
        assumed.append("the paper prints an upper bound of its deviation")
    return theirs.sd * math.sqrt(runs / (runs - 1)), runs, assumed


def _rounding(theirs: Score) -> float:
    """Return half a unit of the last printed digit."""
    digits = theirs.printed.partition("±")[0].partition(".")[2]
    return 0.5 * 10.0 ** -len(digits)


def _welch(first: float, first_freedom: int, second: float, second_freedom: int) -> float:
    """Return the degrees of freedom of Welch's test, Satterthwaite 1946."""
    return (first + second) ** 2 / (first**2 / first_freedom + second**2 / second_freedom)


def _p(t: float, freedom: float) -> float:
    return float(2 * stdtr(freedom, -abs(t)))
