"""Rank the models of a store over datasets, among rows of the same recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import format_value
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.ranks import Ranks, rank_scores
from graphtrial.results.statistics.recipes import Recipe, by_recipe, choose_recipes
from graphtrial.results.titles import differing


def rank_names(rows: Sequence[ResultRow]) -> list[str]:
    """Return the names of rows, with the settings that differ where one recipe has several rows of a name."""
    keys: dict[str, dict[str, None]] = {}
    for group in by_recipe(rows).values():
        similar: dict[str, list[ResultRow]] = {}
        for row in group:
            similar.setdefault(row.name, []).append(row)
        for name, several in similar.items():
            keys.setdefault(name, {}).update(dict.fromkeys(differing(several, lambda row: row.settings)))
    return [
        "/".join([row.name, *(f"{key}={format_value(row.settings[key])}" for key in keys[row.name])]) for row in rows
    ]


def rank_rows(rows: Sequence[ResultRow], datasets: Sequence[str] = ()) -> Ranks:
    """Rank the models that have a score on each of `datasets`; by default, on every dataset of the rows.

    On a dataset only rows of one recipe are ranked: of several, the one with which most models have a score on all
    datasets, then the published data and rules.
    """
    named = _named(rows)
    wanted = list(datasets) or list(dict.fromkeys(recipe.dataset for recipe in named))
    scores, chosen = _choose(named, wanted)
    shared = set.intersection(*map(set, scores)) if scores and len(scores) == len(wanted) else set()
    models = [model for model in scores[0] if model in shared] if shared else []
    if len(models) < 2 or len(wanted) < 2:
        raise GraphTrialError(
            f"ranks need at least two models with a score on each of at least two datasets, by one recipe on each; "
            f"{len(models)} models have one on all of {', '.join(wanted) or 'none'}. "
            f"--datasets names {'fewer datasets' if len(wanted) > 1 else 'at least two'}."
        )
    values = np.array([[of_dataset[model].mean for model in models] for of_dataset in scores])
    ranks = rank_scores(models, wanted, values, [of_dataset[models[0]].higher_is_better for of_dataset in scores])
    here = [group for recipe, group in named.items() if recipe.dataset in wanted]
    others = dict.fromkeys(model for group in here for model in group if model not in shared)
    badges = [sorted({badge for model in models for badge in of_dataset[model].badges}) for of_dataset in scores]
    return replace(ranks, left_out=tuple(others), recipes=chosen, badges=tuple(map(tuple, badges)))


def widest_ranks(rows: Sequence[ResultRow]) -> Ranks | None:
    """Rank over datasets with many models x datasets, at least two of each; `None` where no two models share two.

    Beginning with each recipe in turn, the dataset that keeps most models is added as long as two are left.
    """
    models = {recipe: frozenset(scores) for recipe, scores in _named(rows).items()}
    widest, size = frozenset[str](), 0
    for first in models:
        shared, datasets = models[first], {first.dataset}
        while others := [recipe for recipe in models if recipe.dataset not in datasets]:
            added = max(others, key=lambda recipe: len(shared & models[recipe]))
            shared, datasets = shared & models[added], datasets | {added.dataset}
            if len(shared) < 2:
                break
            if len(shared) * len(datasets) > size:
                widest, size = frozenset(datasets), len(shared) * len(datasets)
    in_order = [name for name in dict.fromkeys(recipe.dataset for recipe in models) if name in widest]
    return rank_rows(rows, in_order) if widest else None


@dataclass(frozen=True)
class _Score:
    mean: float
    higher_is_better: bool
    badges: tuple[str, ...]


def _named(rows: Sequence[ResultRow]) -> dict[Recipe, dict[str, _Score]]:
    """Return the scores of each recipe by the name of the model; of equal names, the one with the fewest departures."""
    scores = {row.id: score for row in rows if (score := _score(row)) is not None}
    tested = [row for row in rows if row.id in scores]
    names = {row.id: name for row, name in zip(tested, rank_names(tested), strict=True)}
    return {
        recipe: {names[row.id]: scores[row.id] for row in sorted(group, key=lambda row: len(row.departures))[::-1]}
        for recipe, group in by_recipe(tested).items()
    }


def _score(row: ResultRow) -> _Score | None:
    test, badges = row.scores("test"), tuple(departure.badge for departure in row.departures)
    return None if test is None else _Score(test.mean, row.first.higher_is_better, badges)


def _choose(
    named: Mapping[Recipe, Mapping[str, _Score]], datasets: Sequence[str]
) -> tuple[list[Mapping[str, _Score]], tuple[Recipe, ...]]:
    """Return the scores on each dataset, by the recipe that is ranked there, and these recipes."""
    of_dataset = [recipe for dataset in datasets for recipe in named if recipe.dataset == dataset]
    preferred = frozenset(recipe for recipe in of_dataset if not any(score.badges for score in named[recipe].values()))
    chosen = choose_recipes({recipe: frozenset(named[recipe]) for recipe in of_dataset}, preferred)
    return [named[recipe] for recipe in chosen], chosen
