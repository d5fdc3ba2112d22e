"""Argument types with bounds, and validation of values against type hints.

A constructor declares `k: Annotated[int, Range(1, 4096)]`, a dataclass `lr: PositiveFloat`. Values from the command
line, a study file, a store or a script are validated by `check_value`: a bool is not an integer, an integer is
accepted for a float (and converted, so that equal values have equal identities), NaN and infinities are rejected.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from graphtrial.core.errors import GraphTrialError, short_repr

LARGEST = 2**31 - 1
LONGEST_TEXT = 4096
LONGEST_LIST = 100_000


@dataclass(frozen=True)
class Range:
    """Interval from `low` to `high`; `above` and `below` make the lower and the upper end open."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def __contains__(self, value: float) -> bool:
        low = value > self.low if self.above else value >= self.low
        return low and (value < self.high if self.below else value <= self.high)

    def __str__(self) -> str:
        if math.isfinite(self.low) and math.isfinite(self.high) and not self.above and not self.below:
            return f"from {_number(self.low)} to {_number(self.high)}"
        ends = []
        if self.low > -math.inf:
            ends.append(f"{'above' if self.above else 'of at least'} {_number(self.low)}")
        if self.high < math.inf:
            ends.append(f"{'below' if self.below else 'at most'} {_number(self.high)}")
        return " and ".join(ends)


@dataclass(frozen=True)
class Length:
    """Minimum and maximum length of a list."""

    least: int = 1
    most: int = LONGEST_LIST


PositiveInt = Annotated[int, Range(1, LARGEST)]
NonNegativeInt = Annotated[int, Range(0, LARGEST)]
Width = Annotated[int, Range(1, 1 << 16)]
Depth = Annotated[int, Range(1, 1000)]
Steps = Annotated[int, Range(0, 1000)]
Seed = Annotated[int, Range(0, 2**63 - 1)]
PositiveFloat = Annotated[float, Range(0, above=True)]
NonNegativeFloat = Annotated[float, Range(0)]
Probability = Annotated[float, Range(0, 1)]
DropoutRate = Annotated[float, Range(0, 1, below=True)]
Fraction = Annotated[float, Range(0, 1, above=True, below=True)]

T = TypeVar("T")


class _MismatchError(Exception):
    """The value does not satisfy the type hint."""


def check_value(value: Any, hint: Any, subject: str) -> Any:
    """Validate a value against a type hint and return it coerced to the hinted type.

    Raises `GraphTrialError` with the allowed values; `subject` names the argument in the message.
    """
    if isinstance(value, bool | int | float | str) and _is_sequence(hint):
        value = (value,)  # the command line has no syntax for a list of one
    try:
        return _coerce(value, hint)
    except _MismatchError:
        raise GraphTrialError(f"{subject} must be {describe_hint(hint)}, not {short_repr(value)}") from None


def describe_hint(hint: Any) -> str:
    """Describe the values that a type hint allows, for error messages."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base, *constraints = parts
        bounds = [str(constraint) for constraint in constraints if isinstance(constraint, Range)]
        lengths = [
            f", {constraint.least} to {constraint.most:,} of them"
            for constraint in constraints
            if isinstance(constraint, Length)
        ]
        return f"{describe_hint(base)} {' and '.join(bounds)}".strip() + "".join(lengths)
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if origin in (Union, types.UnionType):
        return " or ".join("absent" if part is type(None) else describe_hint(part) for part in parts)
    if origin in (tuple, list, Sequence):
        return f"a list, each {describe_hint(parts[0])}"
    if origin in (dict, Mapping):
        each = "" if len(parts) < 2 or parts[1] is Any else f", each {describe_hint(parts[1])}"
        return f"a mapping from names to values{each}"
    names = {
        bool: "true or false",
        int: "an integer",
        float: "a finite number",
        str: f"a string of at most {LONGEST_TEXT:,} characters",
    }
    return names.get(hint, "a number, a string, true or false")


def _number(value: float) -> str:
    return f"{value:,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"


def _coerce(value: Any, hint: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        value = _coerce(value, parts[0])
        for constraint in parts[1:]:
            if isinstance(constraint, Range) and value is not None and value not in constraint:
                raise _MismatchError
            if isinstance(constraint, Length) and not constraint.least <= len(value) <= constraint.most:
                raise _MismatchError
        return value
    if origin is Literal:
        return _require(value, any(type(value) is type(part) and value == part for part in parts))
    if origin in (Union, types.UnionType):
        return _coerce_union(value, parts)
    if origin in (tuple, list, Sequence):
        return _coerce_sequence(value, parts[0], list if origin is list else tuple)
    if origin in (dict, Mapping) or hint is dict:
        return _coerce_mapping(value, parts[1] if parts else Any)
    if hint in _SCALARS:
        return _SCALARS[hint](value)
    if isinstance(hint, type) and hint is not Any:
        return _require(value, isinstance(value, hint))
    return _coerce_union(value, (bool, int, float, str))


def _require(value: T, fits: bool) -> T:
    if not fits:
        raise _MismatchError
    return value


def _coerce_union(value: Any, hints: Sequence[Any]) -> Any:
    for hint in hints:
        try:
            return _coerce(value, hint)
        except _MismatchError:
            continue
    raise _MismatchError


def _coerce_sequence(value: Any, hint: Any, kind: type[list[Any]] | type[tuple[Any, ...]]) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or len(value) > LONGEST_LIST:
        raise _MismatchError
    return kind(_coerce(each, hint) for each in value)


def _is_sequence(hint: Any) -> bool:
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return get_origin(base) in (tuple, list, Sequence)


def _coerce_mapping(value: Any, hint: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _MismatchError
    return value if hint is Any else {key: _coerce(each, hint) for key, each in value.items()}


def _coerce_int(value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise _MismatchError
    return _require(int(value), abs(int(value)) < 2**63)


def _coerce_float(value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise _MismatchError
    try:
        return _require(float(value), math.isfinite(value))
    except OverflowError:
        raise _MismatchError from None


def _coerce_str(value: Any) -> str:
    if not isinstance(value, str):
        raise _MismatchError
    return _require(value, len(value) <= LONGEST_TEXT)


_SCALARS: dict[Any, Callable[[Any], Any]] = {
    bool: lambda value: _require(value, isinstance(value, bool)),
    int: _coerce_int,
    float: _coerce_float,
    str: _coerce_str,
    type(None): lambda value: _require(value, value is None),
}
