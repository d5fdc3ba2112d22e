"""Random instances with their shortest tours, solved in small chunks that are kept: what was solved is never lost."""

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
"""Raise it when the solver may give other tours or bounds."""
CHUNK = 8
MOST_POINTS = 2000


@dataclass(frozen=True)
class Recipe:
    """What instances there are: as many points as chance says from `low` to `high`, uniform in the unit square.

    Instance i depends on the seed and on i alone, so that a larger set begins with the smaller one. `nodes` subproblems
    may be tried for one proof, and `seconds` (none by default) spent on it; only the former is the same everywhere.
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
        """When to give up a proof."""
        return Limits(self.nodes, float("inf") if self.seconds is None else self.seconds)

    @property
    def folder(self) -> Path:
        """Where the chunks are kept."""
        return cache_home() / "tours" / digest({"solver": SOLVER, **asdict(self)})[:16]

    def points(self, number: int) -> Array:
        """Return the points [n, 2] of an instance."""
        draws = Draws(self.seed, number)
        n = self.low + int(draws.below([self.high - self.low + 1])[0])
        return draws.uniform(2 * n).reshape(n, 2)


@dataclass(frozen=True)
class Solved:
    """Tours, one after the other, and of each its length, a lower bound on all tours, and whether the two meet."""

    sizes: Array
    tours: Array
    length: Array
    bound: Array
    proved: Array


def solved_instances(recipe: Recipe, count: int, workers: int | None = None) -> Solved:
    """Return the tours of the first `count` instances, computed by `workers` processes (all cores by default).

    Chunks that were solved before, by whatever call or process, are read; a call that is killed goes on where it was.
    """
    if count < 1:
        raise GraphTrialError(f"at least one instance must be asked for, not {count}")
    chunks = range((count + CHUNK - 1) // CHUNK)
    found = list(map_in_order(partial(_chunk, recipe), chunks, "solving tours", workers))
    whole = {name: np.concatenate([chunk[name] for chunk in found]) for name in found[0]}
    nodes = int(whole["sizes"][:count].sum())
    return Solved(
        whole["sizes"][:count],
        whole["tours"][:nodes].astype(np.int64),
        whole["length"][:count] * unit(recipe.metric),
        whole["bound"][:count] * unit(recipe.metric),
        whole["proved"][:count],
    )


def kept_chunks(recipe: Recipe, count: int) -> int:
    """Return how many of the first `count` instances were solved before."""
    chunks = range((count + CHUNK - 1) // CHUNK)
    return min(count, CHUNK * sum((recipe.folder / f"{chunk:05d}").exists() for chunk in chunks))


def _chunk(recipe: Recipe, chunk: int) -> dict[str, Array]:
    folder = recipe.folder / f"{chunk:05d}"
    return cached(folder, lambda: _solve(recipe, chunk, folder), lambda: storage.load(folder)[0])


def _solve(recipe: Recipe, chunk: int, folder: Path) -> None:
    from graphtrial.tsp import solve

    numbers = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    proofs = [solve(recipe.points(number), recipe.metric, recipe.limits) for number in numbers]
    arrays: dict[str, Array] = {
        "sizes": np.array([len(proof.tour) for proof in proofs], np.int32),
        "tours": np.concatenate([proof.tour for proof in proofs]).astype(np.int16),
        "length": np.array([proof.length for proof in proofs], np.int64),
        "bound": np.array([proof.bound for proof in proofs], np.int64),
        "proved": np.array([proof.proved for proof in proofs], np.bool_),
        "seconds": np.array([proof.seconds for proof in proofs]),
    }
    storage.save(folder, arrays, {"recipe": asdict(recipe), "chunk": chunk, "solver": SOLVER})
