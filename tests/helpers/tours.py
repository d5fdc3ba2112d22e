"""Helpers of TSP tests: Held-Karp solutions, and published instances."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Instances of TSPLIB (Reinelt 1991) in its GEO metric, and the published lengths of their shortest tours.
BURMA_14 = (
    "16.47 96.10 16.47 94.44 20.09 92.54 22.39 93.37 25.23 97.24 22.00 96.05 20.47 97.02 "
    "17.20 96.29 16.30 97.38 14.05 98.12 16.53 97.38 21.52 95.59 19.41 97.13 20.09 94.55"
)
ULYSSES_16 = (
    "38.24 20.42 39.57 26.15 40.56 25.32 36.26 23.12 33.48 10.54 37.56 12.19 38.42 13.11 37.52 20.44 "
    "41.23 9.10 41.17 13.05 36.08 -5.21 38.47 15.13 38.15 15.35 37.51 15.17 35.49 14.32 39.36 19.56"
)
ULYSSES_22 = f"{ULYSSES_16} 38.09 24.36 36.09 23.00 40.44 13.57 40.33 14.15 40.37 14.23 37.57 22.56"
TSPLIB = {"burma14": (BURMA_14, 3323), "ulysses16": (ULYSSES_16, 6859), "ulysses22": (ULYSSES_22, 7013)}


def coordinates(text: str) -> Array:
    """The points of a published instance."""
    return np.array(text.split(), float).reshape(-1, 2)


def shortest_length(distance: Array) -> int:
    """The length of the shortest tour by the dynamic program of Held and Karp, for a dozen points or so."""
    n = len(distance) - 1
    best = np.full((1 << n, n), np.iinfo(np.int64).max // 4)
    for last in range(n):
        best[1 << last, last] = distance[n, last]
    for visited in range(1, 1 << n):
        for last in range(n):
            before = visited ^ (1 << last)
            if visited >> last & 1 and before:
                inside = [node for node in range(n) if before >> node & 1]
                best[visited, last] = (best[before, inside] + distance[inside, last]).min()
    return int((best[-1] + distance[n, :n]).min())


def random_points(n: int, seed: int, grid: int = 0) -> Array:
    """Points in the unit square, or some that may coincide on a grid."""
    rng = np.random.default_rng([n, seed])
    return rng.integers(0, grid, (n, 2)) / grid if grid else rng.random((n, 2))
