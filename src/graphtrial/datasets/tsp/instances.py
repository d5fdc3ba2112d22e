"""Random TSP instances with optimal tours, solved and cached in chunks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.cache import cached
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.files import cache_home
from graphtrial.core.parallel import map_in_order
from graphtrial.core.spec import digest
from graphtrial.datasets.generators.draws import Draws
from graphtrial.graphs import storage
from graphtrial.tsp import METRICS, Limits, unit

Array = npt.NDArray[Any]

SOLVER = 1
"""Solver version; increment it when tours or bounds may change."""
CHUNK = 8
MOST_POINTS = 2000


@dataclass(frozen=True)
class InstanceConfig:
    """Distribution of instances: `low` to `high` points, uniform in the unit square.

    Instance i depends only on the seed and i, so that a larger set extends a smaller one. Branch-and-cut limits per
    instance: `nodes` subproblems and `seconds` (unlimited by default); only the former is reproducible.
    """

    low: int
    high: int
    seed: int
    metric: str = "euclidean"
    nodes: int = 2000
    seconds: float | None = None

    def __post_init__(self) -> None:
        if not 5 <= self.low <= self.high <= MOST_POINTS:
            raise GraphTrialError(
                f"an instance has 5 to {MOST_POINTS} points, and low is at most high; not {self.low} to {self.high}"
            )
        if self.metric not in METRICS:
            near = did_you_mean(self.metric, METRICS)
            raise UnknownNameError(f"no metric '{self.metric}'.{near} Known: {', '.join(METRICS)}.")
        if self.seconds is not None and self.seconds <= 0:
            raise GraphTrialError(f"the time limit must be above 0 seconds, not {self.seconds}")

    @property
    def limits(self) -> Limits:
        """Branch-and-cut limits."""
        return Limits(self.nodes, float("inf") if self.seconds is None else self.seconds)

    @property
    def folder(self) -> Path:
        """Cache folder of the chunks."""
        return cache_home() / "tours" / digest({"solver": SOLVER, **asdict(self)})[:16]

    def points(self, number: int) -> Array:
        """Sample the points [n, 2] of an instance."""
        draws = Draws(self.seed, number)
        n = self.low + int(draws.below([self.high - self.low + 1])[0])
        return draws.uniform(2 * n).reshape(n, 2)


@dataclass(frozen=True)
class Solved:
    """Concatenated tours with their sizes, lengths, lower bounds and optimality flags."""

    sizes: Array
    tours: Array
    length: Array
    bound: Array
    proved: Array


def solved_instances(config: InstanceConfig, count: int, workers: int | None = None) -> Solved:
    """Solve the first `count` instances with `workers` processes (all cores by default).

    Cached chunks are reused, so that an interrupted call can be resumed.
    """
    if count < 1:
        raise GraphTrialError(f"the number of instances must be at least 1, not {count}")
    chunks = range((count + CHUNK - 1) // CHUNK)
    solved = list(map_in_order(partial(_chunk, config), chunks, "solving tours", workers))
    whole = {name: np.concatenate([chunk[name] for chunk in solved]) for name in solved[0]}
    nodes = int(whole["sizes"][:count].sum())
    return Solved(
        whole["sizes"][:count],
        whole["tours"][:nodes].astype(np.int64),
        whole["length"][:count] * unit(config.metric),
        whole["bound"][:count] * unit(config.metric),
        whole["proved"][:count],
    )


def count_solved(config: InstanceConfig, count: int) -> int:
    """Return how many of the first `count` instances are cached."""
    chunks = range((count + CHUNK - 1) // CHUNK)
    return min(count, CHUNK * sum((config.folder / f"{chunk:05d}").exists() for chunk in chunks))


def _chunk(config: InstanceConfig, chunk: int) -> dict[str, Array]:
    folder = config.folder / f"{chunk:05d}"
    return cached(folder, lambda: _solve(config, chunk, folder), lambda: storage.load(folder)[0])


def _solve(config: InstanceConfig, chunk: int, folder: Path) -> None:
    from graphtrial.tsp import solve

    numbers = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    proofs = [solve(config.points(number), config.metric, config.limits) for number in numbers]
    arrays: dict[str, Array] = {
        "sizes": np.array([len(proof.tour) for proof in proofs], np.int32),
        "tours": np.concatenate([proof.tour for proof in proofs]).astype(np.int16),
        "length": np.array([proof.length for proof in proofs], np.int64),
        "bound": np.array([proof.bound for proof in proofs], np.int64),
        "proved": np.array([proof.proved for proof in proofs], np.bool_),
        "seconds": np.array([proof.seconds for proof in proofs]),
    }
    storage.save(folder, arrays, {"recipe": asdict(config), "chunk": chunk, "solver": SOLVER})
