"""Synthetic collaboration network with the proportions of OGBL-COLLAB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators.draws import Draws
from graphtrial.datasets.generators.sampling import approx_normal

Array = npt.NDArray[Any]
AUTHORS = 235_868
LINKS = {"train": 1_179_052, "val": 60_084, "test": 46_329}
NEGATIVES = 100_000
FEATURES = 128
FIRST_YEAR, LAST_YEAR = 1963, 2017
GROUP = 12
"""Authors per group; most links are within groups."""
WITHIN = 0.9
"""Fraction of links within groups."""
GROUPS, MEANS, NOISE, PEOPLE, YEARS, NEGATIVE = range(6)
"""Indices of the random streams."""


@dataclass(frozen=True)
class Network:
    """Features [authors, 128], links of each split [links, 2], weight and year of the training links, negatives."""

    x: npt.NDArray[np.float32]
    links: dict[str, npt.NDArray[np.int64]]
    weight_and_year: npt.NDArray[np.float32]
    negatives: dict[str, npt.NDArray[np.int64]]


def network(authors: int, seed: int) -> Network:
    """Generate a network of `authors` authors with the proportions of OGBL-COLLAB.

    Authors belong to groups of 12 with similar features and 90 % of links within groups, so that pairs may be linked in
    several years. Training links are before 2018, more of them in later years.
    """
    if not 100 <= authors <= 10 * AUTHORS:
        raise GraphTrialError(f"a stand-in for OGBL-COLLAB has 100 to {10 * AUTHORS} authors, not {authors}")
    scale = authors / AUTHORS
    order = Draws(seed, GROUPS).permutation(authors)
    group = np.empty(authors, np.int64)
    group[order] = np.arange(authors) // GROUP
    means = approx_normal(Draws(seed, MEANS), int(group.max()) + 1, FEATURES)
    x = (means[group] + approx_normal(Draws(seed, NOISE), authors, FEATURES)) * np.float32(0.1)
    people = Draws(seed, PEOPLE)
    links = {part: _pairs(people, order, max(8, round(count * scale))) for part, count in LINKS.items()}
    negative = Draws(seed, NEGATIVE)
    count = max(16, round(NEGATIVES * scale))
    negatives = {part: negative.below(np.full((count, 2), authors)) for part in ("val", "test")}
    return Network(x, links, _weight_and_year(Draws(seed, YEARS), len(links["train"])), negatives)


def _pairs(draws: Draws, order: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Sample pairs of distinct authors; `order` lists the authors by group."""
    authors = len(order)
    first = draws.below(np.full(count, authors))
    start = first // GROUP * GROUP
    size = np.minimum(GROUP, authors - start)
    inside = (draws.uniform(count) < WITHIN) & (size > 1)
    step = 1 + draws.below(np.where(inside, size - 1, authors - 1))
    second = np.where(inside, start + (first - start + step) % size, (first + step) % authors)
    pairs: npt.NDArray[np.int64] = order[np.stack([first, second], axis=1)]
    return pairs


def _weight_and_year(draws: Draws, count: int) -> npt.NDArray[np.float32]:
    """Sample the number of papers of a link, mostly one, and its year, skewed to later ones."""
    years = LAST_YEAR - FIRST_YEAR + 1
    late = np.maximum(draws.below(np.full(count, years)), draws.below(np.full(count, years)))
    weight = 1 + (draws.uniform(count) < 0.3).astype(np.int64) * draws.below(np.full(count, 5))
    return np.stack([weight, FIRST_YEAR + late], axis=1).astype(np.float32)
