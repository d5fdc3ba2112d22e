"""Declared arguments: types, ranges and finiteness, stated once in a signature and checked for every way in.

A constructor declares `k: Annotated[int, Range(1, 4096)]`, a dataclass of rules `lr: Positive`. What a command line, a
study file, a store or a script gives for it goes through `check_value`. A bool is no whole number, a whole number is a
number (and becomes a float, so that equal values have equal identities), and nothing is NaN or infinite.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from graphtrial.core.errors import GraphTrialError, shown

LARGEST = 2**31 - 1
LONGEST_TEXT = 4096
LONGEST_LIST = 100_000


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; `above` and `below` leave out the ends themselves."""

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
    """The fewest and the most values of a list."""

    least: int = 1
    most: int = LONGEST_LIST


Count = Annotated[int, Range(1, LARGEST)]
Whole = Annotated[int, Range(0, LARGEST)]
Width = Annotated[int, Range(1, 1 << 16)]
Depth = Annotated[int, Range(1, 1000)]
Steps = Annotated[int, Range(0, 1000)]
Seed = Annotated[int, Range(0, 2**63 - 1)]
Positive = Annotated[float, Range(0, above=True)]
NotNegative = Annotated[float, Range(0)]
Probability = Annotated[float, Range(0, 1)]
DropRate = Annotated[float, Range(0, 1, below=True)]
Fraction = Annotated[float, Range(0, 1, above=True, below=True)]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])


class _MisfitError(Exception):
    """A value that a hint does not allow."""


def check_value(value: Any, hint: Any, what: str) -> Any:
    """Return the value in its canonical form; one that the hint does not allow is an error that says what is."""
    if isinstance(value, bool | int | float | str) and _is_list(hint):
        value = (value,)  # one value stands for a list of one: a command line has no other way to write it
    try:
        return _fitting(value, hint)
    except _MisfitError:
        raise GraphTrialError(f"{what} must be {allowed(hint)}, not {shown(value)}") from None


def check_fields(instance: Any, what: str = "") -> None:
    """Check every field of a dataclass against its declared type; for `__post_init__`."""
    hints = declared_hints(type(instance))
    for field in fields(instance):
        if field.init and field.name in hints:
            label = f"{field.name} of {what}" if what else field.name
            value = check_value(getattr(instance, field.name), hints[field.name], label)
            object.__setattr__(instance, field.name, value)


def declared_arguments(constructor: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the arguments that a constructor declares; `self` and positional-only ones are not configuration."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        parameters = inspect.signature(constructor).parameters
    except (TypeError, ValueError):
        raise GraphTrialError(f"{shown(constructor)} declares no arguments: give a class or a function") from None
    return {name: p for name, p in parameters.items() if p.kind in kinds}


def declared_hints(constructor: Any) -> dict[str, Any]:
    """Return the type of each declared argument: as annotated, else that of its default, else `Any`."""
    return _hints(constructor) if isinstance(constructor, type | types.FunctionType) else _read_hints(constructor)


def _read_hints(constructor: Any) -> dict[str, Any]:
    if is_dataclass(constructor):
        return get_type_hints(constructor, include_extras=True)
    function = constructor.__init__ if isinstance(constructor, type) else constructor  # type: ignore[misc]
    names = getattr(inspect.unwrap(getattr(function, "func", function)), "__globals__", {})
    return {
        name: _of_default(p.default) if p.annotation is p.empty else _evaluated(p.annotation, names, p.default)
        for name, p in declared_arguments(constructor).items()
    }


_hints: Callable[[Any], dict[str, Any]] = functools.lru_cache(maxsize=512)(_read_hints)


def checked(function: Callable[..., T], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the given arguments in their canonical form."""
    hints = declared_hints(function)
    return {key: check_value(value, hints[key], f"{key} of {what}") for key, value in given.items()}


def validated(init: F) -> F:
    """Check the arguments of an `__init__` against its signature whenever it is called, also from a script."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        _, *given = bound.arguments.items()
        init(self, **checked(init, dict(given), type(self).__name__))

    return wrapper  # type: ignore[return-value]


def allowed(hint: Any) -> str:
    """Say in words what a hint allows."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base, *marks = parts
        bounds = [str(mark) for mark in marks if isinstance(mark, Range)]
        lengths = [f", {mark.least} to {mark.most:,} of them" for mark in marks if isinstance(mark, Length)]
        return f"{allowed(base)} {' and '.join(bounds)}".strip() + "".join(lengths)
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if origin in (Union, types.UnionType):
        return " or ".join("absent" if part is type(None) else allowed(part) for part in parts)
    if origin in (tuple, list, Sequence):
        return f"a list, each {allowed(parts[0])}"
    if origin in (dict, Mapping):
        each = "" if len(parts) < 2 or parts[1] is Any else f", each {allowed(parts[1])}"
        return f"a table of named values{each}"
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a finite number",
        str: f"a text of at most {LONGEST_TEXT:,} characters",
    }
    return names.get(hint, "a number, a text, true or false")


def _number(value: float) -> str:
    return f"{value:,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"


def _of_default(default: Any) -> Any:
    return type(default) if isinstance(default, bool | int | float | str) else Any


def _evaluated(annotation: Any, names: dict[str, Any], default: Any) -> Any:
    """Evaluate one annotation; of one that cannot be, such as a name imported for type checkers, ask the default."""
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return get_type_hints(holder, globalns=names, include_extras=True)["it"]
    except Exception:  # noqa: BLE001, an annotation of a plug-in may be any expression at all
        return _of_default(default)


def _fitting(value: Any, hint: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        value = _fitting(value, parts[0])
        for mark in parts[1:]:
            if isinstance(mark, Range) and value is not None and value not in mark:
                raise _MisfitError
            if isinstance(mark, Length) and not mark.least <= len(value) <= mark.most:
                raise _MisfitError
        return value
    if origin is Literal:
        return _only(value, any(type(value) is type(part) and value == part for part in parts))
    if origin in (Union, types.UnionType):
        return _any_of(value, parts)
    if origin in (tuple, list, Sequence):
        return _list(value, parts[0], list if origin is list else tuple)
    if origin in (dict, Mapping) or hint is dict:
        return _table(value, parts[1] if parts else Any)
    if hint in PLAIN:
        return PLAIN[hint](value)
    if isinstance(hint, type) and hint is not Any:
        return _only(value, isinstance(value, hint))
    return _any_of(value, (bool, int, float, str))


def _only(value: T, fits: bool) -> T:
    if not fits:
        raise _MisfitError
    return value


def _any_of(value: Any, hints: Sequence[Any]) -> Any:
    for hint in hints:
        try:
            return _fitting(value, hint)
        except _MisfitError:
            continue
    raise _MisfitError


def _list(value: Any, hint: Any, kind: type[list[Any]] | type[tuple[Any, ...]]) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or len(value) > LONGEST_LIST:
        raise _MisfitError
    return kind(_fitting(each, hint) for each in value)


def _is_list(hint: Any) -> bool:
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return get_origin(base) in (tuple, list, Sequence)


def _table(value: Any, hint: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _MisfitError
    return value if hint is Any else {key: _fitting(each, hint) for key, each in value.items()}


def _whole(value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise _MisfitError
    return _only(int(value), abs(int(value)) < 2**63)


def _finite(value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise _MisfitError
    try:
        return _only(float(value), math.isfinite(value))
    except OverflowError:
        raise _MisfitError from None


def _text(value: Any) -> str:
    return _only(value, isinstance(value, str) and len(value) <= LONGEST_TEXT)


PLAIN: dict[Any, Callable[[Any], Any]] = {
    bool: lambda value: _only(value, isinstance(value, bool)),
    int: _whole,
    float: _finite,
    str: _text,
    type(None): lambda value: _only(value, value is None),
}
