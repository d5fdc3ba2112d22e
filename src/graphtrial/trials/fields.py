"""Validation of values read from files: identifiers, hashes, names, counts, numbers, plain JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import refuse_constant

Check = Callable[[Any], bool]
LONGEST_NAME = 255
LARGEST_COUNT = 2**63 - 1
DEEPEST = 32
"""Maximum nesting of JSON, well below the recursion limit."""
_ID = re.compile(r"[0-9a-f]{16}")
_ID_PREFIX = re.compile(r"[0-9a-f]{0,16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def is_id(value: Any) -> bool:
    """Whether a value is the id of a trial: 16 lower-case hexadecimal digits."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_id_prefix(value: str) -> bool:
    """Whether the id of a trial can start with this text: up to 16 lower-case hexadecimal digits."""
    return _ID_PREFIX.fullmatch(value) is not None


def is_sha256(value: Any) -> bool:
    """Whether a value is a SHA-256 in lower-case hexadecimal digits."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def is_name(value: Any) -> bool:
    """Whether a value is a printable text of bounded length that is not empty. It is not a file name yet."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


def is_count(value: Any) -> bool:
    """Whether a value is an integer from 0 that SQLite can hold; true and false are none."""
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def is_number(value: Any) -> bool:
    """Whether a value is a finite floating-point number."""
    return type(value) is float and math.isfinite(value)


def is_amount(value: Any) -> bool:
    """Whether a value is a finite floating-point number from 0."""
    return is_number(value) and value >= 0


def is_plain(value: Any, levels: int = DEEPEST) -> bool:
    """Whether a value is JSON-like: texts, finite numbers, true, false, null, and lists and objects of these."""
    if isinstance(value, Mapping):
        return levels > 0 and all(type(key) is str and is_plain(one, levels - 1) for key, one in value.items())
    if isinstance(value, list | tuple):
        return levels > 0 and all(is_plain(one, levels - 1) for one in value)
    return value is None or type(value) in (str, int, bool) or is_number(value)


def is_component(value: Any) -> bool:
    """Whether a value is a component as plain values: a name, and perhaps arguments and a version."""
    if not isinstance(value, Mapping) or not {"name"} <= set(value) <= {"name", "arguments", "version"}:
        return False
    arguments, version = value.get("arguments", {}), value.get("version", 1)
    return is_name(value["name"]) and isinstance(arguments, Mapping) and is_plain(arguments) and is_count(version)


def is_hashes(value: Any) -> bool:
    """Whether a value maps names to SHA-256."""
    return isinstance(value, Mapping) and all(is_name(key) and is_sha256(one) for key, one in value.items())


def optional(check: Check) -> Check:
    """Return a check that also accepts `None`."""
    return lambda value: value is None or check(value)


def check_fields(values: Any, checks: Mapping[str, Check], subject: str, needed: set[str]) -> None:
    """Raise an error that names the first unknown, missing or invalid field."""
    if not isinstance(values, Mapping):
        raise GraphTrialError(f"{subject} is not an object of named values")
    for name in values:
        if name not in checks:
            raise GraphTrialError(f"{subject} has an unknown field {_shown(name)}")
    for name, check in checks.items():
        if name in values:
            if not check(values[name]):
                raise GraphTrialError(f"{subject} has no valid {name}: {_shown(values[name])}")
        elif name in needed:
            raise GraphTrialError(f"{subject} has no {name}")


def check_id(value: Any) -> str:
    """Return a valid id of a trial; anything else is an error. Every path with an id is built from this value."""
    if not is_id(value):
        raise GraphTrialError(f"{_shown(value)} is not the id of a trial, which has 16 hexadecimal digits")
    return str(value)


def read_object(text: str) -> dict[str, Any]:
    """Parse a JSON object of bounded depth with finite numbers; anything else raises `ValueError`."""
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    if not is_plain(value):
        raise ValueError(f"a number that is not finite, or nested more than {DEEPEST} levels deep")
    return value


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
