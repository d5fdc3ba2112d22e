"""Median, minimum and maximum of repetitions, and ratios paired by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

UNPROVEN = 1.3
"""Ratios of times below this are within the drift of a machine's speed."""


@dataclass(frozen=True)
class Summary:
    """Median, minimum and maximum of some repetitions."""

    median: float
    low: float
    high: float
    count: int

    def scaled(self, factor: float) -> Summary:
        """Return the summary times a factor: another unit, or extrapolated from a subset."""
        return Summary(self.median * factor, self.low * factor, self.high * factor, self.count)


def summarize(values: Sequence[float]) -> Summary:
    """Return the median, minimum and maximum of at least one value."""
    if not values:
        raise ValueError("the median of an empty sequence is undefined")
    return Summary(median(values), min(values), max(values), len(values))


def paired_ratios(slow: Sequence[float], fast: Sequence[float]) -> Summary:
    """Return the ratio of times paired by round.

    Both times of a pair are measured within seconds of each other, so that drift of the machine cancels.
    """
    return summarize([s / f for s, f in zip(slow, fast, strict=True)])


def is_unproven(ratio: float) -> bool:
    """Return whether a ratio of times is within the drift of a machine's speed."""
    return 1 / UNPROVEN < ratio < UNPROVEN
