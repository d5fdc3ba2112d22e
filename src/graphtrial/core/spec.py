"""Identity: canonical JSON, its hash, and declared components whose constructor arguments are their configuration."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from graphtrial.core.arguments import check_value, checked, declared_arguments
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean


def canonical_json(value: Any) -> str:
    """Return the one JSON text of `value`: sorted keys, no spaces, no NaN, so that equal values have equal texts."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `value`, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


@dataclass(frozen=True)
class Component:
    """A named thing with its arguments, such as `laplacian` with `k = 20`.

    On the command line and in study files it is written `laplacian:20` or `laplacian:20,sign=fixed`: the first value
    goes to the first argument of the constructor.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(
        cls,
        text: str,
        constructor: Callable[[str], Callable[..., Any]],
        defaults: Callable[[Any], Mapping[str, Any]] = lambda built: {},
    ) -> Component:
        """Read `name:value,key=value`; `constructor` maps the name to the class that takes the arguments.

        `defaults` go before those that the class declares.
        """
        name, _, rest = text.partition(":")
        built = constructor(name)
        parameters = declared_arguments(built)
        arguments: dict[str, Any] = {}
        for position, part in enumerate(filter(None, rest.split(","))):
            key, equals, value = part.partition("=")
            if not equals:
                key, value = list(parameters)[position] if position < len(parameters) else "", part
            if not key:
                raise GraphTrialError(f"'{text}': '{name}' takes no argument for '{part}'")
            if key.strip() in arguments:
                raise GraphTrialError(f"'{text}': '{key.strip()}' is given twice")
            arguments[key.strip()] = parse_value(value.strip())
        return cls(name, resolve_arguments(built, {**defaults(built), **arguments}, f"'{text}'"))

    def __str__(self) -> str:
        values = ",".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"{self.name}:{values}" if values else self.name


def resolve_arguments(constructor: Callable[..., Any], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return `given` completed by the constructor's defaults; an unknown, missing or misfitting one is an error."""
    declared = declared_arguments(constructor)
    given = check_value(given, dict[str, Any], what)
    reject_unknown_keys(given, declared, what)
    missing = [name for name, p in declared.items() if p.default is p.empty and name not in given]
    if missing:
        raise GraphTrialError(f"{what} needs a value for {', '.join(missing)}")
    values = checked(constructor, given, what)
    return {name: values.get(name, p.default) for name, p in declared.items()}


def reject_unknown_keys(given: Mapping[str, Any], known: Mapping[str, Any], what: str) -> None:
    """Raise an error that names the nearest known key for the first key that nobody reads."""
    for key in given:
        if key not in known:
            raise UnknownNameError(
                f"{what} has no setting '{key}'.{did_you_mean(key, known)} Known settings: {', '.join(sorted(known))}."
            )


def parse_value(text: str) -> bool | int | float | str:
    """Read a value from the command line: true, false, a whole number, a finite number, else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if isinstance(value, int) or math.isfinite(value):
            return value
    return text


def as_typed(value: object) -> str:
    """Return a value as `parse_value` reads it, and as one types it on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
