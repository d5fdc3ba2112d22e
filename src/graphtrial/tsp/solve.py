"""The shortest tour through some points, and the proof that it is."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.tsp.heuristic import good_tour, tour_length
from graphtrial.tsp.metric import distances
from graphtrial.tsp.proof import Limits, Proof
from graphtrial.tsp.prove import prove

Array = npt.NDArray[Any]

KICKS_PER_POINT = 10
STARTS = 4


def solve(points: Array, metric: str = "euclidean", limits: Limits | None = None) -> Proof:
    """Return the shortest tour through points [n, 2] in whole units of the metric.

    Iterated local search from a few seeds finds the shortest tour or one within some thousandths of it; branch and cut
    then proves it, or finds a shorter one. The result does not depend on the machine, unless a limit of time is met.
    """
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 5:
        raise InvalidGraphError(f"a tour needs at least five points in the plane, not an array of shape {points.shape}")
    distance = distances(points, metric)
    tours = [good_tour(distance, KICKS_PER_POINT * len(points), seed) for seed in range(1, STARTS + 1)]
    tour = min(tours, key=lambda tour: tour_length(distance, tour))
    return prove(distance, tour, limits or Limits())
