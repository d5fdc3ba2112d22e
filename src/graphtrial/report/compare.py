"""Two rows of the store against each other, dataset by dataset, with a verdict in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from graphtrial.errors import GraphTrialError
from graphtrial.report.pairs import Paired, Test, paired, pairs_needed
from graphtrial.report.rows import ResultRow
from graphtrial.report.stats import ALPHA, holm
from graphtrial.report.titles import label_title
from graphtrial.spec import parse_value

RELATIVE_MARGIN = 0.01
Verdict = Literal["A is better", "B is better", "equivalent", "undecided"]
EXPLANATION = (
    "Each pair is one split and seed that both models were tried on. p is two-sided, by {test}, and corrected for the "
    "number of datasets by Holm's rule. A model is called better when the corrected p is below 0.05 and the 95 % "
    "interval of the difference has no 0 in it; equivalent when two one-sided tests rule out differences of the margin "
    "and more. Effect: mean over s.d. of the differences. More seeds: how many would settle it with 80 % power if the "
    "differences go on as they are."
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
    found: Paired
    p_holm: float
    more_seeds: int | None
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Who is better, if anyone."""
        if self.found.excludes_zero and self.p_holm < ALPHA:
            return "A is better" if (self.found.mean > 0) == self.higher_is_better else "B is better"
        return "equivalent" if self.found.is_equivalent else "undecided"

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        found = self.found
        gap = f"{abs(found.mean):.3f} {self.metric} ({_interval(found)}, p = {self.p_holm:.3g})"
        if self.verdict in ("A is better", "B is better"):
            better, other = (self.a, self.b) if self.verdict == "A is better" else (self.b, self.a)
            return f"{better} is better than {other} by {gap} over {found.n} pairs."
        if self.verdict == "equivalent":
            return f"{self.a} and {self.b} differ by less than {found.margin:.3g} {self.metric}: {gap}."
        more = "no number of seeds on these splits would settle it"
        if self.more_seeds is not None:
            more = f"about {self.more_seeds} more seeds would settle it"
        return f"{self.a} and {self.b} cannot be told apart, nor called equivalent, by {found.n} pairs: {gap}; {more}."

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-like values; the documented shape of `--json`."""
        values = asdict(self)
        found = values.pop("found")
        found["difference"] = found.pop("mean")
        return {**values, **found, "verdict": self.verdict, "words": self.words}


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
            f"'{a}' and '{b}' share no two pairs of split and seed on {where}; the models in it are {known}"
        )
    corrected = holm([one.found.p for one in found])
    return [replace(one, p_holm=p) for one, p in zip(found, corrected, strict=True)]


def compare_rows(
    a: ResultRow, b: ResultRow, *, test: Test = "permutation", margin: float | None = None
) -> Comparison | None:
    """Compare two rows of one dataset by the pairs of split and seed that both have; nothing below two pairs."""
    scores_a, scores_b = _scores(a), _scores(b)
    shared = sorted(scores_a.keys() & scores_b.keys())
    if len(shared) < 2:
        return None
    left, right = [scores_a[key] for key in shared], [scores_b[key] for key in shared]
    mean_b = math.fsum(right) / len(right)
    limit = RELATIVE_MARGIN * abs(mean_b) if margin is None else margin
    overlap = a.overlap if len({split for split, _ in shared}) > 1 else 0.0
    found = paired(left, right, limit, overlap=overlap, test=test)
    splits, seeds = len({split for split, _ in shared}), len({seed for _, seed in shared})
    needed = pairs_needed(found)
    spec = a.first.spec
    return Comparison(
        dataset=spec.dataset,
        protocol=spec.protocol,
        metric=a.first.metric,
        higher_is_better=a.first.higher_is_better,
        a=a.name,
        b=b.name,
        mean_a=math.fsum(left) / len(left),
        mean_b=mean_b,
        seeds=seeds,
        splits=splits,
        found=found,
        p_holm=found.p,
        more_seeds=None if needed is None else max(0, math.ceil((needed - found.n) / splits)),
        notes=_notes(a, b, len(shared)),
    )


def matches(row: ResultRow, wanted: str) -> bool:
    """Tell whether a row is meant by `model`, `model/encoding` or `model/setting=value`, in any order after the model.

    The model is its name or its label, such as `gatedgcn-E`, or as tables write it; what is not mentioned may be
    anything.
    """
    model, *rest = wanted.split("/")
    arguments = row.first.spec.model.arguments
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


def _scores(row: ResultRow) -> dict[tuple[int, int], float]:
    """Return the finite scores; an infinite one has no difference to another."""
    found = {(t.spec.split, t.spec.seed): t.scores["test"] for t in row.trials if "test" in t.scores}
    return {key: score for key, score in found.items() if math.isfinite(score)}


def _notes(a: ResultRow, b: ResultRow, shared: int) -> tuple[str, ...]:
    notes = []
    for row in (a, b):
        left = len(_scores(row)) - shared
        if left:
            notes.append(f"{left} trials of {row.name} have no partner and are left out")
    if a.first.spec.rules != b.first.spec.rules:
        notes.append("the two were trained by different rules of the same protocol, or by changed ones")
    return tuple(notes)


def _interval(found: Paired) -> str:
    return f"95 % interval of A - B [{found.low:.3f}, {found.high:.3f}]"
