"""Formatters of columns."""

from __future__ import annotations

from collections.abc import Callable


def number(form: str) -> Callable[[float], str]:
    """Return a formatter by a format specification such as `.3f`."""
    return lambda value: f"{value:{form}}"


def interval(ends: tuple[float, float]) -> str:
    """Format a confidence interval: `[0.412, 0.436]`."""
    return f"[{ends[0]:.3f}, {ends[1]:.3f}]"


def duration(hours: float) -> str:
    """Format a duration in hours, minutes or seconds."""
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{60 * hours:.1f} min" if hours >= 1 / 60 else f"{3600 * hours:.1f} s"


def epoch_and_total(epoch_seconds: float | None, hours: float | None) -> str:
    """Format time per epoch and per trial in the layout of the papers: `1.01s/0.03hr`."""
    if hours is None:
        return "-"
    epoch = "-" if epoch_seconds is None else f"{epoch_seconds:.2f}s"
    return f"{epoch}/" + (f"{hours:.2f}hr" if hours >= 0.1 else f"{3600 * hours:.0f}s")
