"""Measurements of this machine: cached files of a few values, with a digest that is verified when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.files import read_json, write_text
from graphtrial.core.spec import canonical_json, digest


def write_measurement(path: Path, values: dict[str, Any]) -> None:
    """Write the values with their digest."""
    write_text(path, canonical_json({**values, "digest": digest(values)}))


def read_measurement(path: Path, keys: set[str]) -> dict[str, Any] | None:
    """Return the values; None if there are none, or if the file is damaged or has other keys, to be measured again."""
    try:
        values = read_json(path)
    except (OSError, CorruptFileError):
        return None
    if not isinstance(values, dict):
        return None
    stated = values.pop("digest", None)
    return values if set(values) == keys and stated == digest(values) else None
