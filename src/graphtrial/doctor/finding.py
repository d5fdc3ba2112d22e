"""Result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """Result of one check: `ok`, a harmless `note`, or `wrong`, with `advice`."""

    area: str
    check: str
    state: State
    result: str
    advice: str = ""


def size(count: float) -> str:
    """Format a number of bytes."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"


def some(names: list[str], limit: int = 3) -> str:
    """Return the first names of a list and the number of others."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
