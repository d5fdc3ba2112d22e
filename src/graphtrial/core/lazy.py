"""Attributes that are computed at first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy_property(Generic[T]):  # noqa: N801 - it is used like `property`
    """Compute an attribute at its first use and store it in the instance, also a frozen one.

    In place of `functools.cached_property`, whose lock (before Python 3.12) breaks graphs of `torch.compile`; without
    a lock, two threads may both compute the value.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy_property[T] | T:
        if instance is None:
            return self
        value = self.compute(instance)
        object.__setattr__(instance, self.name, value)
        return value
