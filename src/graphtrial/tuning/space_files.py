"""Read search spaces from TOML files: those that ship with the package, and those of users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.files import read_toml
from graphtrial.core.spec import reject_unknown_keys
from graphtrial.tuning.parameter import Choice, FloatRange, IntRange, Parameter, Part
from graphtrial.tuning.space import Space

SPACE_KEYS = dict.fromkeys(("title", "models", "encoding", "settings", "rules"))
RANGE_KEYS = dict.fromkeys(("low", "high", "step", "log", "points", "when"))
CHOICE_KEYS = dict.fromkeys(("values", "when"))
DEFAULT = "default"
"""The name of the shipped space of a model's family."""


def shipped_spaces() -> dict[str, Path]:
    """Return the files of the shipped spaces by name."""
    root = Path(str(resources.files("graphtrial.tuning"))) / "spaces"
    return {file.stem: file for file in sorted(root.glob("*.toml"))}


@cache
def _families() -> dict[str, str]:
    """Return the name of the default space of each model."""
    return {
        model: name
        for name, file in shipped_spaces().items()
        for model in check_value(read_toml(file, "the space").get("models", ()), tuple[str, ...], "models")
    }


def default_space(model: str) -> str:
    """Return the name of the shipped space of the family of a model; a model without one is an error."""
    families = _families()
    if model not in families:
        raise GraphTrialError(
            f"no default space ships for model '{model}': write one (docs/tuning.md), or name one of "
            f"{', '.join(shipped_spaces())} by --space"
        )
    return families[model]


def load_space(name: str, model: str) -> Space:
    """Read a space from a TOML file, by the name of a shipped one, or as `default` of the model's family."""
    shipped = shipped_spaces()
    name = default_space(model) if name == DEFAULT else name
    path = shipped.get(name, Path(name))
    if name not in shipped and path.suffix != ".toml":
        raise UnknownNameError(
            f"no space called '{name}'.{did_you_mean(name, shipped)} There are {', '.join(shipped)}; "
            "a file of your own must end in .toml."
        )
    return read_space(read_toml(path, "the space"), name if name in shipped else path.name)


def read_space(values: Mapping[str, Any], name: str) -> Space:
    """Build a space from the tables of a TOML file; an unknown key or an invalid range is an error."""
    where = f"the space {name}"
    reject_unknown_keys(values, SPACE_KEYS, where)
    check_value(values.get("title", ""), str, f"the title of {where}")
    parameters: list[Parameter] = []
    parts: tuple[Part, ...] = ("settings", "rules")
    for part in parts:
        table = check_value(values.get(part, {}), dict[str, Any], f"[{part}] of {where}")
        parameters += _parameters(table, part, where)
    if "encoding" in values:
        parameters.append(_parameter("encoding", "encoding", values["encoding"], where))
    return Space(name, tuple(parameters))


def _parameters(table: Mapping[str, Any], part: Part, where: str, prefix: str = "") -> Iterator[Parameter]:
    """Yield the parameters of a table; tables within [rules] are parts of dotted names such as `optimizer.lr`."""
    for key, value in table.items():
        if part == "rules" and isinstance(value, Mapping) and value and not value.keys() & {"low", "high", "values"}:
            yield from _parameters(value, part, where, f"{prefix}{key}.")
        else:
            yield _parameter(f"{prefix}{key}", part, value, where)


def _parameter(name: str, part: Part, value: Any, where: str) -> Parameter:
    subject = f"'{name}' of {where}"
    if not isinstance(value, Mapping):
        values = value if isinstance(value, list) else [value]
        return Choice(name, part, values=_values(values, subject))
    when = {
        other: _values(each if isinstance(each, list) else [each], f"the condition of {subject}")
        for other, each in _flattened(check_value(value.get("when", {}), dict[str, Any], f"'when' of {subject}"))
    }
    if "values" in value:
        reject_unknown_keys(value, CHOICE_KEYS, subject)
        return Choice(name, part, values=_values(value["values"], subject), when=when)
    reject_unknown_keys(value, RANGE_KEYS, subject)
    if "low" not in value or "high" not in value:
        raise GraphTrialError(f"{subject} needs low and high, or values, such as {{ low = 2, high = 8 }}")
    low, high = (check_value(value[end], int | float, f"{end} of {subject}") for end in ("low", "high"))
    log = check_value(value.get("log", False), bool, f"log of {subject}")
    if isinstance(low, int) and isinstance(high, int) and "points" not in value:
        step = check_value(value.get("step", 1), int, f"step of {subject}")
        return IntRange(name, part, when=when, low=low, high=high, step=step, log=log)
    if "step" in value:
        raise GraphTrialError(f"{subject} is a range of floats, which has no step: give the number of points of a grid")
    points = check_value(value.get("points"), int | None, f"points of {subject}")
    return FloatRange(name, part, when=when, low=float(low), high=float(high), log=log, points=points)


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _values(values: Any, subject: str) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise GraphTrialError(f"{subject} needs a list of values")
    return tuple(check_value(value, bool | int | float | str, f"a value of {subject}") for value in values)
