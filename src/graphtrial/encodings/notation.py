"""Encodings as the command line, study files and tables write them."""

from __future__ import annotations

from graphtrial.core.spec import Component

USUAL = {"sign": "random", "order": "fixed"}
"""Arguments that the notation leaves out."""


def short_encoding(encoding: Component | None) -> str:
    """Return an encoding in short, such as `laplacian:20` or `laplacian:20,sign=absolute`; `none` for none."""
    if encoding is None:
        return "none"
    values = [
        str(value) if position == 0 else f"{key}={value}"
        for position, (key, value) in enumerate(encoding.arguments.items())
        if USUAL.get(key) != value
    ]
    return ":".join([encoding.name, ",".join(values)]) if values else encoding.name
