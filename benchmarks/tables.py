"""Numbers as text, rows as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.stats import Spread, is_unproven


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is aligned left, the others right."""
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"a row of {len(row)} cells does not fit a head of {len(head)}")
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def seconds(value: Spread | None) -> str:
    """Write seconds with their spread, in a unit that suits them."""
    if value is None:
        return "-"
    unit, factor = ("s", 1.0) if value.median >= 0.1 else ("ms", 1e3)
    scaled = value.scaled(factor)
    return f"{_short(scaled.median)} {unit} ({_short(scaled.low)} to {_short(scaled.high)})"


def ratio(value: Spread | None) -> str:
    """Write a ratio of times with its spread; one that drift may explain is called unproven."""
    if value is None:
        return "-"
    doubt = ", unproven" if is_unproven(value.median) else ""
    return f"{_short(value.median)} x ({_short(value.low)} to {_short(value.high)}{doubt})"


def megabytes(value: int | None) -> str:
    """Write bytes as whole megabytes."""
    return "-" if value is None else f"{value / 2**20:,.0f}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
