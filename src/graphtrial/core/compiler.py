"""Numba decorators with a crash-safe compilation cache on disk."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

from graphtrial.core.compilation.cache import KernelCache
from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.plugins.packages import installed_version, requirement

Array = Any
F = TypeVar("F", bound=Callable[..., Any])
_LONGEST = 300


def _compile(**options: Any) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        dispatcher: Any = njit(boundscheck=False, error_model="numpy", nogil=True, **options)(function)
        dispatcher._cache = KernelCache(function, options_of=__file__)
        dispatcher._compiler.compile = _releasing(dispatcher._compiler.compile, dispatcher._cache)
        dispatcher._compile_for_args = _explaining(dispatcher._compile_for_args, function)
        return cast(F, dispatcher)

    return decorate


def _releasing(compile_: Callable[..., Any], cached: KernelCache) -> Callable[..., Any]:
    """Release the lock of a function whose compilation fails; numba saves, and so releases, only what succeeds."""

    @functools.wraps(compile_)
    def wrapped(*arguments: Any) -> Any:
        try:
            return compile_(*arguments)
        except BaseException:
            cached.release()
            raise

    return wrapped


def _explaining(compile_: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn any error of the compiler into one line, for the function called from Python: callees raise numba's own."""

    @functools.wraps(compile_)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        try:
            return compile_(*arguments, **named)
        except (GraphTrialError, MemoryError, OSError):
            raise
        except Exception as error:
            name = f"{function.__module__}.{function.__qualname__}"
            raise GraphTrialError(
                f"the kernel {name} does not compile with numba {installed_version('numba')}; graphtrial supports "
                f"{requirement('numba')}: pip install '{requirement('numba')}', and report this if it was installed; "
                f"{in_one_line(error)[:_LONGEST]}"
            ) from error

    return wrapped


def is_compiled(function: Any) -> bool:
    """Return whether a function is compiled, in this process or on disk, so that a call does not wait for it."""
    return bool(function.overloads) or function._cache.has_overload(function.targetctx)


compiled = _compile(fastmath={"contract"})
"""`njit` with a disk cache; allows fused multiply-add (`contract`), but no reassociation of sums."""

reordered = _compile(fastmath={"contract", "reassoc"})
"""`compiled` that may sum in any order: the same on every call, but not the same on every processor."""

exact = _compile(fastmath=False)
"""`njit` with a disk cache and strict IEEE rounding: no fused multiply-add.

Stated, not left to the default: numba would pass the options of a `compiled` caller on to a function that is first
compiled for it, and the bits would depend on which of the two was called first.
"""
