"""Generator of TSP graphs of any number and size."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.parallel import cores
from graphtrial.datasets.tsp.graphs import tour_graphs
from graphtrial.datasets.tsp.instances import InstanceConfig, Solved, count_solved, solved_instances
from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
logger = logging.getLogger(__name__)

SECONDS = {50: 0.17, 100: 0.8, 200: 3.2, 300: 9.0, 400: 13.0, 500: 48.0}
"""Measured seconds per instance by number of points: mean of nine or ten instances on one core of a busy server."""


def generate(
    count: int,
    low: int = 50,
    high: int = 500,
    seed: int = 0,
    metric: str = "euclidean",
    time_limit: float | None = None,
    workers: int | None = None,
) -> GraphSet:
    """Generate `count` graphs of `low` to `high` uniform random points, with optimal tours as edge labels.

    `metric` is "euclidean" or "geographic", the coarse one of the published tours. `time_limit` is in seconds per
    instance and makes the result depend on the machine. Graph columns: `length`, `bound` (lower bound, equal to the
    length of proved tours) and `proved`. Tours are cached, so that larger sets and interrupted calls are resumed.
    """
    return solved_graphs(InstanceConfig(low, high, seed, metric, seconds=time_limit), count, workers)


def solved_graphs(config: InstanceConfig, count: int, workers: int | None = None) -> GraphSet:
    """Build the graphs of the first `count` instances."""
    unsolved = count - count_solved(config, count)
    hours = estimated_hours(config, unsolved)
    if hours > 0.1:
        used = workers or cores()
        logger.warning(
            "solving %d of %d instances: about %.1f core hours, %.1f hours on %d cores; it can be interrupted at any "
            "time and resumed by the same call",
            unsolved, count, hours, hours / used, used,
        )  # fmt: skip
    return build_graphs(config, solved_instances(config, count, workers))


def build_graphs(config: InstanceConfig, solved: Solved) -> GraphSet:
    """Build the graphs of solved instances."""
    proved = float(np.mean(solved.proved))
    if proved < 1:
        logger.warning("%.1f %% of the tours are proved optimal; the others are the best ones found", 100 * proved)
    subject = "sides of the square" if config.metric == "euclidean" else "kilometres"
    columns = {
        "length": Column(solved.length, "graph", f"length of the tour, in {subject}"),
        "bound": Column(solved.bound, "graph", f"length that no tour is shorter than, in {subject}"),
        "proved": Column(solved.proved.astype(np.uint8), "graph", "1 where no tour is shorter", types=2),
    }
    return tour_graphs(_pairs(config, solved), columns)


def estimated_hours(config: InstanceConfig, count: int) -> float:
    """Estimate the core hours of `count` instances."""
    sizes = np.arange(config.low, config.high + 1)
    slope = (SECONDS[500] / SECONDS[300]) ** 0.5  # extrapolation per 100 points
    seconds = np.interp(sizes, list(SECONDS), list(SECONDS.values())) * slope ** (np.maximum(0, sizes - 500) / 100)
    return float(seconds.mean()) * count / 3600


def _pairs(config: InstanceConfig, solved: Solved) -> Iterator[tuple[Array, Array]]:
    for number, tour in enumerate(np.split(solved.tours, np.cumsum(solved.sizes)[:-1])):
        yield config.points(number), tour
