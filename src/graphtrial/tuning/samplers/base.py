"""Interface of samplers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphtrial.tuning.space import Point, Space

ATTEMPTS = 200
"""Maximum number of candidates of a proposal; where all are known or cannot be built, the search ends."""


@dataclass(frozen=True)
class Observation:
    """An earlier proposal: its point, and its validation score.

    The score is negated where higher is better; it is `None` where the trials ended without one, and `pending` where
    the result must not be known yet.
    """

    point: Point
    score: float | None
    pending: bool = False


class Sampler(ABC):
    """Proposes points of a space; a pure function of the space, the seed, the number of the proposal and observations.

    Nothing is kept between two proposals, so that a killed search proposes the same points when it is resumed.
    """

    adaptive: ClassVar[bool] = False
    """Whether proposals depend on the results of earlier ones."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space = space
        self.seed = seed

    @abstractmethod
    def candidates(self, number: int, observations: Sequence[Observation]) -> Iterator[Point]:
        """Yield candidates of a proposal; the first that is new and can be built is taken."""

    def generator(self, number: int, attempt: int) -> np.random.Generator:
        """Return the random generator of one candidate."""
        return np.random.default_rng([self.seed, number, attempt])
