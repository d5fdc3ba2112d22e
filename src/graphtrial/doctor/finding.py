"""What a look at one thing found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: `ok`, a `note` that harms no result, or `wrong`; `advice` says what to do."""

    area: str
    what: str
    state: State
    says: str
    advice: str = ""


def size(count: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"


def some(names: list[str], limit: int = 3) -> str:
    """Return the first names of a list and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
