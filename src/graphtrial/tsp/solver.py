"""Solve a travelling-salesman problem: heuristic tour, then branch and cut."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.tsp.branch_and_cut import prove
from graphtrial.tsp.distances import distances
from graphtrial.tsp.heuristic import iterated_local_search, tour_length
from graphtrial.tsp.result import Limits, Proof

Array = npt.NDArray[Any]

KICKS_PER_POINT = 10
STARTS = 4


def solve(points: Array, metric: str = "euclidean", limits: Limits | None = None) -> Proof:
    """Return the shortest tour through points [n, 2], with lengths in integer units of the metric.

    Iterated local search from a few seeds gives an upper bound, usually optimal; branch and cut proves it optimal or
    finds a shorter tour. Deterministic on every machine, unless the time limit is reached.
    """
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 5:
        raise InvalidGraphError(f"a tour needs at least five points in the plane, not an array of shape {points.shape}")
    distance = distances(points, metric)
    tours = [iterated_local_search(distance, KICKS_PER_POINT * len(points), seed) for seed in range(1, STARTS + 1)]
    tour = min(tours, key=lambda tour: tour_length(distance, tour))
    return prove(distance, tour, limits or Limits())
