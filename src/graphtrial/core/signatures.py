"""Constructor signatures: which arguments a callable declares, of which types, and validation against them."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, short_repr

F = TypeVar("F", bound=Callable[..., None])


def check_fields(instance: Any, subject: str = "") -> None:
    """Validate every field of a dataclass against its type hint; call it in `__post_init__`."""
    hints = declared_hints(type(instance))
    for field in fields(instance):
        if field.init and field.name in hints:
            label = f"{field.name} of {subject}" if subject else field.name
            value = check_value(getattr(instance, field.name), hints[field.name], label)
            object.__setattr__(instance, field.name, value)


def declared_arguments(constructor: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the keyword arguments in a constructor's signature; `self` and positional-only ones are left out."""
    cached = isinstance(constructor, type | types.FunctionType)
    return dict(_arguments(constructor) if cached else _read_arguments(constructor))


def _read_arguments(constructor: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        parameters = inspect.signature(constructor).parameters
    except (TypeError, ValueError):
        raise GraphTrialError(f"{short_repr(constructor)} declares no arguments: give a class or a function") from None
    return {name: p for name, p in parameters.items() if p.kind in kinds}


def declared_hints(constructor: Any) -> dict[str, Any]:
    """Return the type hint of each declared argument: its annotation, else the type of its default, else `Any`."""
    return _hints(constructor) if isinstance(constructor, type | types.FunctionType) else _read_hints(constructor)


def _read_hints(constructor: Any) -> dict[str, Any]:
    if is_dataclass(constructor):
        return get_type_hints(constructor, include_extras=True)
    function = constructor.__init__ if isinstance(constructor, type) else constructor  # type: ignore[misc]
    names = getattr(inspect.unwrap(getattr(function, "func", function)), "__globals__", {})
    return {
        name: _type_of_default(p.default) if p.annotation is p.empty else _evaluate(p.annotation, names, p.default)
        for name, p in declared_arguments(constructor).items()
    }


_arguments: Callable[[Any], dict[str, inspect.Parameter]] = functools.lru_cache(maxsize=512)(_read_arguments)
_hints: Callable[[Any], dict[str, Any]] = functools.lru_cache(maxsize=512)(_read_hints)


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any], subject: str) -> dict[str, Any]:
    """Validate keyword arguments against a signature and return them coerced to their types."""
    hints = declared_hints(function)
    return {key: check_value(value, hints[key], f"{key} of {subject}") for key, value in given.items()}


def validated(init: F) -> F:
    """Decorate an `__init__` so that every call validates its arguments against the signature."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        _, *given = bound.arguments.items()
        init(self, **check_arguments(init, dict(given), type(self).__name__))

    return wrapper  # type: ignore[return-value]


def _type_of_default(default: Any) -> Any:
    return type(default) if isinstance(default, bool | int | float | str) else Any


def _evaluate(annotation: Any, names: dict[str, Any], default: Any) -> Any:
    """Evaluate an annotation; fall back to the type of the default where its names cannot be resolved at run time."""
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return get_type_hints(holder, globalns=names, include_extras=True)["it"]
    except Exception:  # noqa: BLE001 - the annotation of a plug-in may be any expression
        return _type_of_default(default)
