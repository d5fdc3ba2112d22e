"""Learning curves as small SVG drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 320, 120, 6


@dataclass(frozen=True)
class Curves:
    """Polylines of one drawing, and the values at its edges."""

    lines: list[str]
    low: float
    high: float
    last_epoch: int


def curves(series: Sequence[Sequence[float]]) -> Curves | None:
    """Scale several curves, one value per epoch, into one drawing of `WIDTH` x `HEIGHT`."""
    values = [value for one in series for value in one]
    if not values:
        return None
    low, high, longest = min(values), max(values), max(map(len, series))
    across = (WIDTH - 2 * MARGIN) / max(1, longest - 1)
    up = (HEIGHT - 2 * MARGIN) / ((high - low) or 1.0)
    lines = [
        " ".join(f"{MARGIN + across * i:.1f},{HEIGHT - MARGIN - up * (value - low):.1f}" for i, value in enumerate(one))
        for one in series
        if one
    ]
    return Curves(lines, low, high, longest)
