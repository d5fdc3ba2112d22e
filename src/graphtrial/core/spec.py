"""Identity: canonical JSON, its SHA-256, and components given as a name with constructor arguments."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from typing import Any

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.signatures import check_arguments, declared_arguments


def canonical_json(value: Any) -> str:
    """Serialise to canonical JSON: sorted keys, no spaces, no NaN; equal values give equal strings."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `value`, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


@dataclass(frozen=True)
class Component:
    """A registered name with constructor arguments, such as `laplacian` with `k = 20`.

    Written `laplacian:20` or `laplacian:20,sign=fixed` on the command line and in study files; values without a key
    are positional.
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
        """Parse `name:value,key=value`; `constructor` maps a name to its class.

        `defaults` take precedence over those in the class's signature.
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
        resolved = resolve_arguments(built, {**defaults(built), **arguments}, f"'{text}'")
        return cls(name, differing(built, resolved))

    def __str__(self) -> str:
        values = ",".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"{self.name}:{values}" if values else self.name


def resolve_arguments(constructor: Callable[..., Any], given: Mapping[str, Any], subject: str) -> dict[str, Any]:
    """Complete `given` with the constructor's defaults; an unknown, missing or invalid argument is an error."""
    declared = declared_arguments(constructor)
    given = check_value(given, dict[str, Any], subject)
    reject_unknown_keys(given, declared, subject)
    missing = [name for name, p in declared.items() if p.default is p.empty and name not in given]
    if missing:
        raise GraphTrialError(f"{subject} needs a value for {', '.join(missing)}")
    values = check_arguments(constructor, given, subject)
    return {name: values.get(name, p.default) for name, p in declared.items()}


def differing(constructor: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that differ from the constructor's declared defaults, which form the identity."""
    return without_defaults(given, declared_defaults(constructor))


def without_defaults(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not equal, in type and value, to the default of the same key."""
    return {key: value for key, value in given.items() if key not in defaults or not _equal(value, defaults[key])}


def declared_defaults(constructor: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of each declared argument that has one."""
    factories = {f.name: f.default_factory for f in fields(constructor)} if is_dataclass(constructor) else {}
    declared = {name: p.default for name, p in declared_arguments(constructor).items() if p.default is not p.empty}
    from_factories = {
        name: factory() for name, factory in factories.items() if factory is not MISSING and name in declared
    }
    return {**declared, **from_factories}


def _equal(one: Any, other: Any) -> bool:
    if type(one) is type(other) and type(one) in (str, bool, int):  # most values; a plan has a hundred thousand
        return bool(one == other)
    return canonical_json(one) == canonical_json(other)


def reject_unknown_keys(given: Mapping[str, Any], allowed: Mapping[str, Any], subject: str) -> None:
    """Raise an error for the first unknown key, suggesting the closest known one."""
    for key in given:
        if key not in allowed:
            raise UnknownNameError(
                f"{subject} has no setting '{key}'.{did_you_mean(key, allowed)} "
                f"Known settings: {', '.join(sorted(allowed))}."
            )


def parse_value(text: str) -> bool | int | float | str:
    """Parse a command-line value: true or false, an integer, a finite float, else the string itself."""
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


def format_value(value: object) -> str:
    """Format a value for the command line; the inverse of `parse_value`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
