"""The inert things the restricted pickle reader deals in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphtrial.core.errors import CorruptFileError

PLAIN = (str, bytes, int, float, np.generic)


class RefusedPickleError(CorruptFileError):
    """A pickle that asks for something other than data; nothing of it was run."""


class Record:
    """An object of a foreign class: its class's name and its attributes, no behaviour."""

    __slots__ = ("attributes", "kind")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.attributes: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Record({self.kind}: {', '.join(map(str, self.attributes))})"


class Builder:
    """A function of ours that stands for a name in a pickle."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name = name
        self.call = call


class ForeignClass:
    """Stands for a class whose objects become records."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind


class Token:
    """Stands for a class that is only ever an argument, such as `numpy.ndarray`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def plain_key(key: Any) -> Any:
    """Return a dictionary key or set member; nested ones could exhaust the stack while they are hashed."""
    if all(part is None or isinstance(part, PLAIN) for part in (key if type(key) is tuple else (key,))):
        return key
    raise RefusedPickleError(f"the pickle uses a {type(key).__name__} as a key; text, numbers and flat tuples are read")
