"""Inert values of the restricted unpickler: records, constructors, class references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphtrial.core.errors import CorruptFileError

KEY_TYPES = (str, bytes, int, float, np.generic)


class RefusedPickleError(CorruptFileError):
    """The pickle asks for something other than plain data; nothing was executed."""


class Record:
    """Instance of an unimported class: its class name and attributes."""

    __slots__ = ("attributes", "kind")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.attributes: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Record({self.kind}: {', '.join(map(str, self.attributes))})"


class Builder:
    """Safe constructor substituted for a global of a pickle."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name = name
        self.call = call


class ForeignClass:
    """Substitute for a class whose instances become `Record`s."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind


class Token:
    """Substitute for a class that appears only as an argument, such as `numpy.ndarray`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def plain_key(key: Any) -> Any:
    """Return a hashable dict key or set member; nested tuples are refused, as hashing them could overflow the stack."""
    if all(part is None or isinstance(part, KEY_TYPES) for part in (key if type(key) is tuple else (key,))):
        return key
    raise RefusedPickleError(f"the pickle uses a {type(key).__name__} as a key; text, numbers and flat tuples are read")
