"""Grid search in random order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphtrial.tuning.samplers.base import Observation, Sampler
from graphtrial.tuning.space import Point, Space


class GridSampler(Sampler):
    """All combinations of the grid values, in an order that the seed shuffles.

    A budget smaller than the grid then tries a random subset of it, not one of its corners.
    """

    def __init__(self, space: Space, seed: int) -> None:
        super().__init__(space, seed)
        grid = space.grid()
        self.order = [grid[index] for index in self.generator(0, 0).permutation(len(grid)).tolist()]

    def candidates(self, number: int, observations: Sequence[Observation]) -> Iterator[Point]:
        yield from self.order
