"""Search spaces: named parameters with conditions, from which points are drawn or a grid is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.spec import canonical_json, digest
from graphtrial.tuning.parameter import Choice, FloatRange, IntRange, Parameter, is_among

Point = dict[str, Any]
"""Values of the active parameters, by name."""
MOST_POINTS = 10_000
"""Maximum number of combinations of a grid search."""
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Choice, IntRange, FloatRange)}


@dataclass(frozen=True)
class Space:
    """Parameters of a search, those that others depend on first."""

    name: str
    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        if not self.parameters:
            raise GraphTrialError(
                f"the space {self.name} is empty: declare what to search under [settings], [rules] or as encoding"
            )
        names = [parameter.name for parameter in self.parameters]
        for parameter in self.parameters:
            if names.count(parameter.name) > 1:
                raise GraphTrialError(f"the space {self.name} has '{parameter.name}' twice")
        object.__setattr__(self, "parameters", tuple(_parents_first(self)))

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __getitem__(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        raise UnknownNameError(
            f"the space {self.name} has no parameter '{name}'.{did_you_mean(name, names)} It has {', '.join(names)}."
        )

    @property
    def id(self) -> str:
        """Hash of the parameters; the name does not count."""
        return digest(self.to_dict())[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON-like values."""
        return {
            parameter.name: {"kind": type(parameter).__name__}
            | {key: value for key, value in vars(parameter).items() if key != "name"}
            for parameter in self.parameters
        }

    @classmethod
    def from_dict(cls, name: str, values: Mapping[str, Any]) -> Space:
        """Read what `to_dict` wrote; anything else is an error."""
        parameters = []
        for key, fields in check_value(values, dict[str, dict[str, Any]], "the space of a search").items():
            kind = _KINDS.get(str(fields.get("kind")))
            if kind is None:
                raise GraphTrialError(f"'{key}' of the space {name} is of an unknown kind")
            given = {field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()}
            given["when"] = {other: tuple(each) for other, each in dict(given.get("when", {})).items()}
            try:
                parameters.append(kind(key, **{field: value for field, value in given.items() if field != "kind"}))
            except TypeError as error:
                raise GraphTrialError(f"'{key}' of the space {name} cannot be read: {error}") from error
        return cls(name, tuple(parameters))

    def sample(self, rng: np.random.Generator) -> Point:
        """Draw a point: the values of the active parameters."""
        point: Point = {}
        for parameter in self.parameters:
            value = parameter.sample(rng)  # also of an inactive one, so that conditions shift no later draw
            if parameter.is_active(point):
                point[parameter.name] = value
        return point

    def grid(self) -> list[Point]:
        """Return all distinct combinations of the grid values, the last parameter varying fastest."""
        values = {parameter.name: parameter.grid() for parameter in self.parameters}
        if prod(map(len, values.values())) > MOST_POINTS:
            raise GraphTrialError(
                f"the grid of the space {self.name} has more than {MOST_POINTS:,} combinations: give fewer values, "
                "or use --search random"
            )
        points: list[Point] = [{}]
        for parameter in self.parameters:
            points = [
                {**point, parameter.name: value} if parameter.is_active(point) else point
                for point in points
                for value in (values[parameter.name] if parameter.is_active(point) else (None,))
            ]
        return list({canonical_json(point): point for point in points}.values())

    def condition_point(self, parameter: Parameter) -> Point:
        """Return values of other parameters at which this one is active: the first that its conditions allow."""
        point: Point = {}
        for name, values in parameter.when.items():
            point |= self.condition_point(self[name])
            point[name] = values[0]
        return point


def _parents_first(space: Space) -> list[Parameter]:
    """Sort parameters so that conditions refer to earlier ones; unknown names, values and cycles are errors."""
    ordered: dict[str, Parameter] = {}

    def visit(parameter: Parameter, below: tuple[str, ...]) -> None:
        if parameter.name in below:
            raise GraphTrialError(f"the conditions of '{parameter.name}' in the space {space.name} depend on itself")
        for name, values in parameter.when.items():
            parent = space[name]
            for value in values:
                if value not in parent:
                    raise GraphTrialError(
                        f"'{parameter.name}' of the space {space.name} is searched when {name} is {value!r}, "
                        f"which '{name}' never is"
                    )
            visit(parent, (*below, parameter.name))
        ordered[parameter.name] = parameter

    for parameter in space.parameters:
        visit(parameter, ())
    return list(ordered.values())


def fixed(space: Space, given: Mapping[str, Any]) -> Space | None:
    """Return the space with these values given: their parameters are left out, and conditions on them decided.

    A parameter whose condition fails is left out too. `None` if nothing is left to search.
    """
    remaining: list[Parameter] = []
    dropped: set[str] = set()
    for parameter in space.parameters:
        if parameter.name in given:
            continue
        conditions = dict(parameter.when)
        on_given = {name: conditions.pop(name) for name in parameter.when if name in given}
        holds = all(is_among(given[name], values) for name, values in on_given.items())
        if not holds or dropped & conditions.keys():
            dropped.add(parameter.name)
            continue
        remaining.append(replace(parameter, when=conditions))
    return replace(space, parameters=tuple(remaining)) if remaining else None
