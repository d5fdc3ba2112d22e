"""Random search (Bergstra and Bengio, JMLR 2012)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphtrial.tuning.samplers.base import ATTEMPTS, Observation, Sampler
from graphtrial.tuning.space import Point


class RandomSampler(Sampler):
    """Draw every parameter independently, uniform or log-uniform."""

    def candidates(self, number: int, observations: Sequence[Observation]) -> Iterator[Point]:
        for attempt in range(ATTEMPTS):
            yield self.space.sample(self.generator(number, attempt))
