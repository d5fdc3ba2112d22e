"""Several models over several datasets: mean ranks, Friedman test, Nemenyi post-hoc test (Demsar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from graphtrial.results.statistics.recipes import Recipe
from graphtrial.results.statistics.summary import ALPHA

EXPLANATION = (
    "Rank 1 is the best mean test score on a dataset; ties share the mean of their ranks. The null hypothesis of the "
    "Friedman test is equal mean ranks; where it is rejected, two models differ when their mean ranks differ by more "
    "than the critical difference of the Nemenyi post-hoc test at 0.05 (Demsar 2006). On a dataset only rows of one "
    "recipe are ranked: the same data, the protocols of one family, and the same training rules."
)


@dataclass(frozen=True)
class RankedModel:
    """A model with its mean rank, and its score and rank by dataset."""

    name: str
    mean_rank: float
    scores: Mapping[str, float]
    ranks: Mapping[str, float]


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of `models`, best first, over `datasets`.

    `scores` and `ranks`: [datasets, models]. `p_friedman` is none for two models, where the Friedman test is undefined.
    `p_nemenyi`: [models, models]. `groups` are the maximal groups of models within the critical difference, the bars of
    a critical-difference diagram, as positions in `models`; `left_out` the models without a score on some dataset.
    `recipes` and `badges` are those of the ranked rows on each dataset.
    """

    models: tuple[str, ...]
    datasets: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    ranks: tuple[tuple[float, ...], ...]
    mean_ranks: tuple[float, ...]
    p_friedman: float | None
    critical_difference: float
    p_nemenyi: tuple[tuple[float, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    left_out: tuple[str, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    badges: tuple[tuple[str, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the ranks as JSON-like values."""
        return asdict(self)

    @property
    def ranked_models(self) -> list[RankedModel]:
        """The models, best first."""
        return [
            RankedModel(
                name,
                self.mean_ranks[i],
                {dataset: scores[i] for dataset, scores in zip(self.datasets, self.scores, strict=True)},
                {dataset: ranks[i] for dataset, ranks in zip(self.datasets, self.ranks, strict=True)},
            )
            for i, name in enumerate(self.models)
        ]

    @property
    def basis(self) -> str:
        """The recipe of each dataset as a sentence."""
        titles = [
            " ".join([recipe.title, *(f"[{badge}]" for badge in marks)])
            for recipe, marks in zip(self.recipes, self.badges, strict=True)
        ]
        if len(set(titles)) == 1:
            return f"Recipe: {titles[0]}."
        return f"Recipes: {'; '.join(map(' '.join, zip(self.datasets, titles, strict=True)))}."

    @property
    def conclusion(self) -> str:
        """Conclusion of both tests as a sentence."""
        best, worst = self.models[0], self.models[-1]
        if self.p_friedman is None or self.p_friedman >= ALPHA:
            p = "" if self.p_friedman is None else f" (Friedman p = {self.p_friedman:.3g})"
            return (
                f"No evidence over {len(self.datasets)} datasets that {len(self.models)} models differ in rank{p}, "
                "which is no evidence that they are equal."
            )
        apart = self.mean_ranks[-1] - self.mean_ranks[0] > self.critical_difference
        post_hoc = (
            f"{best} is ranked better than {worst}" if apart else "no two models differ by the critical difference"
        )
        return f"The ranks differ (Friedman p = {self.p_friedman:.3g}); {post_hoc}."


def rank_scores(
    models: Sequence[str],
    datasets: Sequence[str],
    scores: np.ndarray,
    higher_is_better: Sequence[bool],
) -> Ranks:
    """Rank scores [datasets, models] and test the ranks."""
    signs = np.where(np.asarray(higher_is_better), -1.0, 1.0)[:, None]
    ranks = stats.rankdata(scores * signs, axis=1)
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    means, count, blocks = means[order], len(models), len(datasets)
    unit = math.sqrt(count * (count + 1) / (6 * blocks))
    critical = stats.studentized_range.ppf(1 - ALPHA, count, np.inf) / math.sqrt(2) * unit
    apart = np.abs(means[:, None] - means[None, :]) / unit * math.sqrt(2)
    nemenyi = stats.studentized_range.sf(apart, count, np.inf)
    return Ranks(
        models=tuple(models[i] for i in order),
        datasets=tuple(datasets),
        scores=_rows(scores[:, order]),
        ranks=_rows(ranks[:, order]),
        mean_ranks=tuple(map(float, means)),
        p_friedman=_friedman(ranks),
        critical_difference=float(critical),
        p_nemenyi=_rows(nemenyi),
        groups=_groups(means, float(critical)),
    )


def _friedman(ranks: np.ndarray) -> float | None:
    if ranks.shape[1] < 3:
        return None
    p = float(stats.friedmanchisquare(*ranks.T).pvalue)
    return 1.0 if math.isnan(p) else p  # all models tie everywhere


def _groups(means: np.ndarray, critical: float) -> tuple[tuple[int, ...], ...]:
    """Return the maximal groups of sorted mean ranks within the critical difference."""
    groups: list[tuple[int, ...]] = []
    for start in range(len(means)):
        run = tuple(i for i in range(start, len(means)) if means[i] - means[start] <= critical)
        if len(run) > 1 and not any(run[-1] <= other[-1] for other in groups):
            groups.append(run)
    return tuple(groups)


def _rows(values: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in values)
