"""Medians with their spread, and ratios of contestants that ran side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

UNPROVEN = 1.3
"""The speed of a machine drifts by more than a smaller ratio says."""


@dataclass(frozen=True)
class Spread:
    """The median of some repetitions, the smallest and the largest."""

    median: float
    low: float
    high: float
    count: int

    def scaled(self, factor: float) -> Spread:
        """Return the spread in another unit, or of a whole of which a part was measured."""
        return Spread(self.median * factor, self.low * factor, self.high * factor, self.count)


def spread(values: Sequence[float]) -> Spread:
    """Return the median, minimum and maximum of at least one value."""
    if not values:
        raise ValueError("there is no median of nothing")
    return Spread(median(values), min(values), max(values), len(values))


def paired_ratio(slow: Sequence[float], fast: Sequence[float]) -> Spread:
    """Return how many times longer `slow` took than `fast`, round by round.

    Both halves of each ratio were measured within seconds of each other, so that drift of the machine cancels.
    """
    return spread([s / f for s, f in zip(slow, fast, strict=True)])


def is_unproven(ratio: float) -> bool:
    """Tell whether a ratio of times is too close to 1 to be believed."""
    return 1 / UNPROVEN < ratio < UNPROVEN
