"""Encodings as the command line, study files and tables write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component

USUAL = {"sign": "random", "order": "fixed", "scale": "vectors"}
"""Arguments that the notation leaves out."""

ALIASES = {"rwse": "random-walk", "eslappe": "equivariant-laplacian"}
"""Other names in the notation; a specification has the registered one."""

COMBINED = "combined"
"""Registered name of the encoding that concatenates others."""

JOINED = "+"
LONGEST_NAME = 255


def split_encodings(text: str) -> list[str]:
    """Split an encoding such as `rwse:20+laplacian:8` into its parts, aliases replaced: `random-walk:20`, ...

    A `+` before a digit belongs to a number.
    """
    parts = [part.strip() for part in re.split(r"\+(?![0-9.])", text)]
    return [_named(part) for part in parts]


def checked_parts(text: str) -> list[str]:
    """Split an encoding into its parts, each of which names an encoding."""
    parts = split_encodings(text)
    for part, name in zip(parts, encoding_names(text), strict=True):
        if name in ("", "none", COMBINED):
            reason = f"no encoding is called '{part}'" if part else "a part is empty"
            raise GraphTrialError(f"'{text}': {reason}; join encodings by {JOINED}, such as rwse:20+laplacian:8")
        if name.lower() == "lappe":
            raise GraphTrialError(
                f"'{text}': write laplacian for eigenvectors alone, or laplacian-pairs for eigenvectors and "
                "eigenvalues, which is LapPE in GraphGPS"
            )
    return parts


def encoding_names(text: str) -> list[str]:
    """Return the registered names in an encoding such as `rwse:20+laplacian:8`."""
    return [part.partition(":")[0] for part in split_encodings(text)]


def parts_of(encoding: Component | None) -> list[tuple[Component, int]]:
    """Return the parts of an encoding and the version of each, 0 for an encoding that is its only part.

    A combination that is not valid, of an untrusted store, counts as one part.
    """
    if encoding is None:
        return []
    given = encoding.arguments.get("parts")
    if encoding.name == COMBINED and isinstance(given, list | tuple):
        parts = [stored_part(part) for part in given]
        if parts and all(part is not None for part in parts):
            return [part for part in parts if part is not None]
    return [(encoding, 0)]


def stored_part(part: Any) -> tuple[Component, int] | None:
    """Return a part of a stored combination with its version; `None` for anything else."""
    if not isinstance(part, Mapping) or not set(part) <= {"name", "arguments", "version"}:
        return None
    name, arguments, version = part.get("name"), part.get("arguments", {}), part.get("version", 1)
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        return None
    if not isinstance(arguments, Mapping) or type(version) is not int or version < 1:
        return None
    return Component(name, dict(arguments)), version


def format_encoding(encoding: Component | None) -> str:
    """Return an encoding with every argument, such as `random-walk:k=20+laplacian:k=8`; `none` for none."""
    return JOINED.join(str(part) for part, _ in parts_of(encoding)) or "none"


def short_encoding(encoding: Component | None) -> str:
    """Return an encoding in short, such as `laplacian:20` or `random-walk:20+laplacian:8`; `none` for none."""
    return JOINED.join(_short(part) for part, _ in parts_of(encoding)) or "none"


def _short(encoding: Component) -> str:
    values = [
        str(value) if position == 0 else f"{key}={value}"
        for position, (key, value) in enumerate(encoding.arguments.items())
        if USUAL.get(key) != value
    ]
    return ":".join([encoding.name, ",".join(values)]) if values else encoding.name


def _named(part: str) -> str:
    name, colon, rest = part.partition(":")
    return f"{ALIASES.get(name.lower(), name)}{colon}{rest}"
