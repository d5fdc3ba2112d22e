"""Samplers: which point of a space to try next."""

from __future__ import annotations

from collections.abc import Callable

from graphtrial.core.errors import UnknownNameError, did_you_mean
from graphtrial.tuning.samplers.base import Observation, Sampler
from graphtrial.tuning.samplers.grid import GridSampler
from graphtrial.tuning.samplers.random import RandomSampler
from graphtrial.tuning.samplers.tpe import TPESampler
from graphtrial.tuning.space import Space

HALVING = "halving"
SAMPLERS: dict[str, Callable[[Space, int], Sampler]] = {
    "random": RandomSampler,
    "tpe": TPESampler,
    "grid": GridSampler,
    HALVING: RandomSampler,
}
"""Samplers by the name of the search; successive halving stops most of the configurations of a random search early."""


def make_sampler(search: str, space: Space, seed: int) -> Sampler:
    """Return the sampler of a search by name."""
    if search not in SAMPLERS:
        raise UnknownNameError(
            f"no search called '{search}'.{did_you_mean(search, SAMPLERS)} Use {', '.join(SAMPLERS)}."
        )
    return SAMPLERS[search](space, seed)


__all__ = ["HALVING", "SAMPLERS", "Observation", "Sampler", "make_sampler"]
