"""Hours left of a study as a range, for `graphtrial list studies` and `graphtrial study --dry-run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphtrial.studies.eta import RowEta

HOURS = ("hours", "hours_low", "hours_high")
FACTS = ("rows", "trials", "done", *HOURS, "timed_rows", "guessed_rows")
"""Sums over the rows of a study; `guessed_rows` are scaled from the nearest measured model."""
WIDE = 1.3
"""Ratio of the ends of a range from which on both are shown."""


def totals(etas: list[RowEta], parallel: int) -> dict[str, Any]:
    """Return the sums over the rows of a study; the hours are wall-clock time of `parallel` trials at a time."""
    left = [eta.left for eta in etas if eta.left is not None]
    seconds = [(one.seconds.expected, one.seconds.low, one.seconds.high) for one in left]
    hours = [sum(column) / 3600 / parallel for column in zip(*seconds, strict=True)] if seconds else [None] * 3
    return {
        "rows": len(etas),
        "trials": sum(eta.row.trials for eta in etas),
        "done": sum(eta.done for eta in etas),
        **dict(zip(HOURS, hours, strict=True)),
        "timed_rows": len(left),
        "guessed_rows": sum(one.is_guess for one in left),
    }


def format_hours(facts: dict[str, Any]) -> str:
    """Format the hours left: unknown, a number or a range; ~ if rows are guessed, + if rows have no estimate."""
    if facts["hours"] is None:
        return "unknown"
    more = "+" if facts["timed_rows"] < facts["rows"] else ""
    guess = "~" if facts["guessed_rows"] else ""
    low, high = facts["hours_low"], facts["hours_high"]
    if high <= WIDE * low or high < 0.05:
        return f"{guess}{_number(facts['hours'])}{more}"
    return f"{guess}{_number(low)}-{_number(high)}{more}"


def _number(hours: float) -> str:
    if 0 < hours < 0.05:
        return "<0.1"
    return f"{hours:.1f}" if hours < 100 else f"{hours:,.0f}"
