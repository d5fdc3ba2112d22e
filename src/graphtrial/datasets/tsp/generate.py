"""Graphs of random instances with their shortest tours, of any number and size."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.parallel import cores
from graphtrial.datasets.tsp.graphs import tour_graphs
from graphtrial.datasets.tsp.instances import Recipe, Solved, kept_chunks, solved_instances
from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
logger = logging.getLogger(__name__)

SECONDS = {50: 0.17, 100: 0.8, 200: 3.2, 300: 9.0, 400: 13.0, 500: 48.0}
"""What a tour and its proof took on one busy core of a 2020s server, the mean of nine or ten instances by points."""


def generate(
    count: int,
    low: int = 50,
    high: int = 500,
    seed: int = 0,
    metric: str = "euclidean",
    time_limit: float | None = None,
    workers: int | None = None,
) -> GraphSet:
    """Return `count` graphs of `low` to `high` uniformly random points, labelled with their shortest tours.

    `metric` is "euclidean" or "geographic", the coarse one of the published tours. `time_limit` is in seconds of
    computing per proof; with it, what is proved depends on the machine. Columns of graphs: `length`, `bound` (a lower
    bound on every tour, which is the length where it is proved) and `proved`. Tours are kept in the cache: asking
    again, or for more, or after a kill, computes only what is missing.
    """
    return solved_graphs(Recipe(low, high, seed, metric, seconds=time_limit), count, workers)


def solved_graphs(recipe: Recipe, count: int, workers: int | None = None) -> GraphSet:
    """Return the graphs of the first `count` instances of a recipe."""
    left = count - kept_chunks(recipe, count)
    hours = estimated_hours(recipe, left)
    if hours > 0.1:
        used = workers or cores()
        logger.warning(
            "solving %d of %d instances: about %.1f hours of computing, %.1f on %d cores; it can be stopped at any "
            "time, and goes on from there when it is asked for again",
            left, count, hours, hours / used, used,
        )  # fmt: skip
    return labelled(recipe, solved_instances(recipe, count, workers))


def labelled(recipe: Recipe, solved: Solved) -> GraphSet:
    """Return the graphs of solved instances."""
    share = float(np.mean(solved.proved))
    if share < 1:
        logger.warning("%.1f %% of the tours are proved; the others are the shortest that were found", 100 * share)
    what = "sides of the square" if recipe.metric == "euclidean" else "kilometres"
    columns = {
        "length": Column(solved.length, "graph", f"length of the tour, in {what}"),
        "bound": Column(solved.bound, "graph", f"length that no tour is shorter than, in {what}"),
        "proved": Column(solved.proved.astype(np.uint8), "graph", "1 where no tour is shorter", types=2),
    }
    return tour_graphs(_pairs(recipe, solved), columns)


def estimated_hours(recipe: Recipe, count: int) -> float:
    """Return about how many hours of one core `count` instances take."""
    sizes = np.arange(recipe.low, recipe.high + 1)
    known = list(SECONDS)
    slope = (SECONDS[500] / SECONDS[300]) ** 0.5  # beyond the largest measured size it grows further, per 100 points
    seconds = np.interp(sizes, known, list(SECONDS.values())) * slope ** (np.maximum(0, sizes - 500) / 100)
    return float(seconds.mean()) * count / 3600


def _pairs(recipe: Recipe, solved: Solved) -> Iterator[tuple[Array, Array]]:
    for number, tour in enumerate(np.split(solved.tours, np.cumsum(solved.sizes)[:-1])):
        yield recipe.points(number), tour
