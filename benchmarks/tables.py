"""Formatting of numbers and Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.stats import Summary, is_unproven


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is aligned left, the others right."""
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"a row of {len(row)} cells does not fit a head of {len(head)}")
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def seconds(value: Summary | None) -> str:
    """Format seconds as median (minimum to maximum), in s or ms."""
    if value is None:
        return "-"
    unit, factor = ("s", 1.0) if value.median >= 0.1 else ("ms", 1e3)
    scaled = value.scaled(factor)
    return f"{_short(scaled.median)} {unit} ({_short(scaled.low)} to {_short(scaled.high)})"


def ratio(value: Summary | None) -> str:
    """Format a ratio of times as median (minimum to maximum), marked unproven within drift."""
    if value is None:
        return "-"
    doubt = ", unproven" if is_unproven(value.median) else ""
    return f"{_short(value.median)} x ({_short(value.low)} to {_short(value.high)}{doubt})"


def megabytes(value: int | None) -> str:
    """Format bytes as whole megabytes."""
    return "-" if value is None else f"{value / 2**20:,.0f}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
