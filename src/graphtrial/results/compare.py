"""Compare two models of a store, dataset by dataset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.metrics import metric_range
from graphtrial.results.comparison import Comparison
from graphtrial.results.rows import ResultRow
from graphtrial.results.select import distinct_names, matches
from graphtrial.results.statistics.differences import Difference, Test, difference, seeds_needed
from graphtrial.results.statistics.permutation import Array, Stratum
from graphtrial.results.statistics.recipes import by_recipe, recipe_of
from graphtrial.results.statistics.summary import ALPHA, holm
from graphtrial.results.tuning import unequal_tuning

RELATIVE_MARGIN = 0.01
ComparedRows = tuple[ResultRow, ResultRow, Comparison]


def compare(
    rows: Sequence[ResultRow],
    a: str,
    b: str,
    *,
    datasets: Sequence[str] = (),
    test: Test = "permutation",
    margin: float | None = None,
) -> list[Comparison]:
    """Compare two models on each dataset where both have trials under the same protocol; all datasets by default.

    `a` and `b` are names as in `matches`; `margin` is the equivalence margin in units of the metric, by default 1 % of
    B's mean.
    """
    pairs: list[ComparedRows] = []
    for dataset in datasets or dict.fromkeys(row.first.spec.dataset for row in rows):
        here = [row for row in rows if row.first.spec.dataset == dataset]
        for first, second in _partners(here, a, b, dataset):
            comparison = compare_rows(first, second, test=test, margin=margin)
            if comparison is not None:
                pairs.append((first, second, comparison))
    if not pairs:
        here = [row for row in rows if not datasets or row.first.spec.dataset in datasets]
        raise GraphTrialError(_no_pair(here, a, b, ", ".join(datasets)))
    return corrected(pairs)


def _no_pair(rows: Sequence[ResultRow], a: str, b: str, where: str) -> str:
    """Return why no rows of two models can be compared."""
    place, protocols = f" of {where}" if where else "", []
    for name in (a, b):
        specs = [row.first.spec for row in rows if matches(row, name)]
        if not specs:
            labels = [row.first.spec.model.name.rpartition(":")[2] for row in rows]
            models = ", ".join(dict.fromkeys(row.name for row in rows)) or "none"
            return f"no row is called '{name}'.{did_you_mean(name, labels)} The models{place} are {models}."
        protocols.append({(spec.protocol.partition("@")[0], spec.dataset, spec.data) for spec in specs})
    if not protocols[0] & protocols[1]:
        under = [", ".join(sorted({protocol for protocol, *_ in of})) for of in protocols]
        return (
            f"only trials under the same protocol and on the same data are compared: '{a}' has trials{place} under "
            f"{under[0]}, '{b}' under {under[1]}"
        )
    return f"'{a}' and '{b}' share neither two splits nor two trials of each on one split{place or ' of any dataset'}"


def corrected(pairs: Sequence[ComparedRows]) -> list[Comparison]:
    """Return comparisons that stand together, with Holm's correction of p and of the number of further seeds.

    That number is for the level of the undecided comparison that Holm's procedure would test first.
    """
    adjusted = holm([comparison.difference.p for _, _, comparison in pairs])
    alpha = ALPHA / max(1, sum(p >= ALPHA for p in adjusted))
    return [
        replace(comparison, p_holm=p, more_seeds=_more_seeds(comparison.difference, *_strata(a, b), alpha))
        for (a, b, comparison), p in zip(pairs, adjusted, strict=True)
    ]


def compare_rows(
    a: ResultRow, b: ResultRow, *, test: Test = "permutation", margin: float | None = None
) -> Comparison | None:
    """Compare two rows of one dataset on their shared splits; `None` where these are too few for an interval."""
    strata, seeds = _strata(a, b)
    if not strata or (len(strata) == 1 and min(map(len, strata[0])) < 2):
        return None
    mean_a, mean_b = (math.fsum(pair[side].mean() for pair in strata) / len(strata) for side in (0, 1))
    low, high = metric_range(a.first.metric)
    tested = difference(
        strata,
        RELATIVE_MARGIN * abs(mean_b) if margin is None else margin,
        overlap=a.overlap if len(strata) > 1 else 0.0,
        seed_draws=seed_draws_folds(a),
        test=test,
        limit=high - low,
    )
    spec = a.first.spec
    name_a, name_b = distinct_names([a, b])
    return Comparison(
        dataset=spec.dataset,
        protocol=spec.protocol,
        metric=a.first.metric,
        higher_is_better=a.first.higher_is_better,
        a=name_a,
        b=name_b,
        mean_a=mean_a,
        mean_b=mean_b,
        seeds=seeds,
        splits=len({split for split, _ in _scores(a).keys() & _scores(b).keys()}),
        difference=tested,
        p_holm=tested.p,
        more_seeds=_more_seeds(tested, strata, seeds, ALPHA),
        notes=_notes(a, b),
    )


def _more_seeds(tested: Difference, strata: Sequence[Stratum], seeds: int, alpha: float) -> int | None:
    needed = seeds_needed(tested, strata, seeds, alpha)
    return None if needed is None else max(0, needed - seeds)


def _partners(rows: Sequence[ResultRow], a: str, b: str, dataset: str) -> list[tuple[ResultRow, ResultRow]]:
    """Return the pair of rows of each protocol and data hash that has both models; of several, one of each recipe."""
    groups: dict[tuple[str, str], list[ResultRow]] = {}
    for row in rows:
        groups.setdefault((row.first.spec.protocol, row.first.spec.data), []).append(row)
    partners = []
    for group in groups.values():
        left, right = [r for r in group if matches(r, a)], [r for r in group if matches(r, b)]
        if not left or not right:
            continue
        pairs = [(left, right)]
        if len(left) > 1 or len(right) > 1:
            alike = by_recipe(group).values()
            pairs = [([r for r in left if r in same], [r for r in right if r in same]) for same in alike]
            pairs = [pair for pair in pairs if all(pair)] or [(left, right)]
        for wanted, several in [(name, side) for pair in pairs for name, side in zip((a, b), pair, strict=True)]:
            if len(several) > 1:
                listed = ", ".join(distinct_names(several))
                raise GraphTrialError(
                    f"'{wanted}' is ambiguous on {dataset}: {listed}. Add an encoding or a setting, as there."
                )
        partners += [(one, other) for (one,), (other,) in pairs]
    return partners


def seed_draws_folds(row: ResultRow) -> bool:
    """Whether the seed draws the folds, so that two models share folds only with the same seed."""
    return row.first.spec.kind.draws_folds


def _strata(a: ResultRow, b: ResultRow) -> tuple[list[Stratum], int]:
    """Return the scores of both rows on each shared split, and the number of seeds."""
    of_a, of_b = _scores(a), _scores(b)
    shared = sorted(of_a.keys() & of_b.keys())
    strata = [(of_a[key], of_b[key]) for key in shared]
    if seed_draws_folds(a):
        return strata, len({seed for _, seed in shared})
    return strata, min((min(map(len, pair)) for pair in strata), default=0)


def _scores(row: ResultRow) -> dict[tuple[int, int], Array]:
    """Return the finite scores by split: one per seed, or a single one where the seed draws the folds."""
    scores: dict[tuple[int, int], list[float]] = {}
    draws = seed_draws_folds(row)
    for trial in row.trials:
        if math.isfinite(score := trial.scores.get("test", math.nan)):
            scores.setdefault((trial.spec.split, trial.spec.seed if draws else 0), []).append(score)
    return {key: np.array(values) for key, values in scores.items()}


def _notes(a: ResultRow, b: ResultRow) -> tuple[str, ...]:
    notes = []
    shared = _scores(a).keys() & _scores(b).keys()
    for row in (a, b):
        left = sum(len(scores) for key, scores in _scores(row).items() if key not in shared)
        if left:
            notes.append(f"{left} trials of {row.name} are left out: the other model has none on their splits")
    recipe = recipe_of(a)
    if recipe == recipe_of(b) and (recipe.tuned or recipe.changes):
        notes.append("both were tuned" if recipe.tuned else f"both have changed rules: {recipe.changes}")
    if a.first.spec.rules != b.first.spec.rules:
        notes.append("the training rules differ: different rules of the same protocol, or changed ones")
    selecting = a.has_epochs and b.has_epochs  # a kernel selects its settings on the validation part by itself
    unequal = unequal_tuning(a.tuning, b.tuning) if selecting else ""
    return (*notes, *([unequal] if unequal else []))
