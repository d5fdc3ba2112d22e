"""Hook by which operators are recorded instead of computed (see `graphtrial.tape`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_recorder: Any = None


def recordable(operator: F) -> F:
    """Decorate an operator: while a recorder is active, its method of the same name is called instead."""

    @functools.wraps(operator)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        function = operator if _recorder is None else _recorder.operator(operator.__name__)
        return function(*arguments, **named)

    return cast(F, wrapper)


@contextmanager
def recording(recorder: Any) -> Iterator[None]:
    """Pass all recordable operators to `recorder` inside the block."""
    global _recorder
    _recorder = recorder
    try:
        yield
    finally:
        _recorder = None
