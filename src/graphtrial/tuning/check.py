"""Validate a search space against the declared arguments of a model and the training rules, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.rules import Rules
from graphtrial.core.spec import reject_unknown_keys
from graphtrial.nn.registry import model_settings, setting_hints
from graphtrial.studies.study import parse_encoding
from graphtrial.tuning.parameter import Choice, FloatRange, IntRange, Parameter
from graphtrial.tuning.space import Point, Space
from graphtrial.tuning.subject import Subject, TooLargeError

MOST_CORNERS = 256
"""Maximum number of combinations of extreme values that are built to see whether any is within the budget."""


def check_space(space: Space, model: str, rules: Rules) -> Space:
    """Return the space with values of the declared types; a name or value that is not allowed is an error."""
    return replace(space, parameters=tuple(_checked(space, parameter, model, rules) for parameter in space))


def check_feasible(space: Space, subject: Subject) -> None:
    """Raise an error unless some combination of extreme values can be built within the parameter budget."""
    errors: list[GraphTrialError] = []
    built = tuple(parameter for parameter in space if parameter.part != "rules")  # rules build no model
    for point in islice(corners(built), MOST_CORNERS):
        try:
            subject.configure(space, point)
            return
        except GraphTrialError as error:
            errors.append(error)
    if all(isinstance(error, TooLargeError) for error in errors):
        raise GraphTrialError(
            f"every configuration of the space {space.name} exceeds the parameter budget: {errors[0]}"
        )
    raise GraphTrialError(f"no configuration of the space {space.name} can be built: {errors[-1]}")


def _checked(space: Space, parameter: Parameter, model: str, rules: Rules) -> Parameter:
    try:
        coerced = [_coerced(space, parameter, value, model, rules) for value in parameter.extremes()]
    except GraphTrialError as error:
        raise type(error)(f"the space {space.name} does not fit: {error}") from error
    if isinstance(parameter, Choice):
        return replace(parameter, values=tuple(coerced))
    if isinstance(parameter, IntRange) and isinstance(coerced[0], float):  # such as dropout from 0 to 1
        if parameter.step != 1:
            values = tuple(float(value) for value in parameter.grid())
            return Choice(parameter.name, parameter.part, when=parameter.when, values=values)
        low, high = coerced
        return FloatRange(parameter.name, parameter.part, when=parameter.when, low=low, high=high, log=parameter.log)
    return parameter


def _coerced(space: Space, parameter: Parameter, value: Any, model: str, rules: Rules) -> Any:
    """Return a value of a parameter as the model, the rules or the encodings take it."""
    name = parameter.name
    if parameter.part == "encoding":
        parse_encoding(check_value(value, str, "an encoding"), model)
        return value
    if parameter.part == "settings":
        reject_unknown_keys({name: value}, model_settings(model), f"model '{model}'")
        return check_value(value, setting_hints(model)[name], f"{name} of model '{model}'")
    others = {key: each for key, each in space.condition_point(parameter).items() if space[key].part == "rules"}
    after = rules.changed({**others, name: value}).flat().get(name)
    return after if isinstance(after, int | float) and not isinstance(after, bool) else value


def corners(parameters: tuple[Parameter, ...]) -> Iterator[Point]:
    """Yield the combinations of the extreme values of parameters, the first ends first."""
    if not parameters:
        yield {}
        return
    *before, last = parameters
    for point in corners(tuple(before)):
        if last.is_active(point):
            yield from ({**point, last.name: value} for value in last.extremes())
        else:
            yield point
