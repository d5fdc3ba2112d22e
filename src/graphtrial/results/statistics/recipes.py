"""Recipes: data, family of protocols and training rules, of which only one is ranked on a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphtrial.published.configurations import AS_PUBLISHED
from graphtrial.results.rows import TUNED, ResultRow


@dataclass(frozen=True)
class Recipe:
    """What rows must share to be ranked together: data, a family of protocols in one version, and changed rules.

    Protocols of a family, such as `wikics/nodes` and `wikics/svm`, are those of one paper in one edition. Of tuned
    rows, searches chose the rules.
    """

    dataset: str
    data: str
    protocols: str
    version: str
    tuned: bool = False
    changes: str = ""

    @property
    def title(self) -> str:
        """Family of protocols, and what was changed: `modern, stopping.max_epochs = 100`."""
        return ", ".join(filter(None, [self.protocols, TUNED if self.tuned else "", self.changes]))


def recipe_of(row: ResultRow) -> Recipe:
    """Return the recipe of a row."""
    spec, tuned = row.first.spec, row.tuning is not None
    name, _, version = spec.protocol.partition("@")
    changes = "" if tuned or not row.has_epochs else row.changes
    family = name.partition("/")[0] + (AS_PUBLISHED if name.endswith(AS_PUBLISHED) else "")
    return Recipe(spec.dataset, spec.data, family, version, tuned, changes)


def by_recipe(rows: Sequence[ResultRow]) -> dict[Recipe, list[ResultRow]]:
    """Group rows by recipe; kernels and other fits without epochs belong to all with their data and protocols."""
    groups: dict[Recipe, list[ResultRow]] = {}
    fits: list[ResultRow] = []
    for row in rows:
        if row.has_epochs:
            groups.setdefault(recipe_of(row), []).append(row)
        else:
            fits.append(row)
    for row in fits:
        own = replace(recipe_of(row), tuned=False)
        joined = [group for recipe, group in groups.items() if replace(recipe, tuned=False, changes="") == own]
        for group in joined or [groups.setdefault(own, [])]:
            group.append(row)
    return groups


def choose_recipes(models: Mapping[Recipe, frozenset[str]], preferred: frozenset[Recipe]) -> tuple[Recipe, ...]:
    """Choose one recipe for each dataset so that most models have all of them, then for most `preferred` ones.

    `models` are those with a score under each recipe; datasets are in the order in which they first appear.
    """
    choices: dict[frozenset[str] | None, tuple[Recipe, ...]] = {None: ()}
    for dataset in dict.fromkeys(recipe.dataset for recipe in models):
        extended: dict[frozenset[str] | None, tuple[Recipe, ...]] = {}
        for shared, chosen in choices.items():
            for recipe in (recipe for recipe in models if recipe.dataset == dataset):
                left, longer = models[recipe] if shared is None else shared & models[recipe], (*chosen, recipe)
                if left not in extended or _count(longer, preferred) > _count(extended[left], preferred):
                    extended[left] = longer
        choices = extended
    return max(choices.items(), key=lambda choice: (len(choice[0] or ()), _count(choice[1], preferred)))[1]


def _count(chosen: Sequence[Recipe], preferred: frozenset[Recipe]) -> int:
    return sum(recipe in preferred for recipe in chosen)
