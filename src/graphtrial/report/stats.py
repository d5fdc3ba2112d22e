"""Mean, deviation and range of a few scores."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """Scores over `n` trials; `sd` is the sample standard deviation (divisor n - 1), none for a single trial."""

    mean: float
    sd: float | None
    min: float
    max: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.sd is None else f"{self.mean:.3f}±{self.sd:.3f}"


def summarise(values: Sequence[float]) -> Summary | None:
    """Return the summary of some scores, or nothing where there are none."""
    if not values:
        return None
    sd = statistics.stdev(values) if len(values) > 1 else None
    return Summary(statistics.fmean(values), sd, min(values), max(values), len(values))
