"""Stamp of a kernel: a hash of everything that is compiled into it."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_LIBRARIES = sys.stdlib_module_names | {"llvmlite", "numba", "numpy"}


def stamp(function: Callable[..., Any], options_of: str) -> str:
    """Hash the source files of a function and of all that it calls, and the global constants that they use.

    Compute it when the function is first called, not when it is decorated: what it calls may be defined below it.
    """
    hasher = hashlib.sha256()
    for part in sorted(_dependencies(function, set()) | {_content(options_of)}):
        hasher.update(part.encode())
    return hasher.hexdigest()


def _dependencies(function: Any, seen: set[Any]) -> set[str]:
    """Return hashes of source files and values of constants, through kernels, intrinsics and their helpers."""
    seen.add(function)
    parts = {_content(function.__code__.co_filename)}
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        definition = getattr(value, "py_func", getattr(value, "_defn", value))  # of kernels, intrinsics and overloads
        if isinstance(value, ModuleType):
            parts.add(_content(value.__file__ or value.__name__))
        elif isinstance(definition, FunctionType):
            parts.add(_content(definition.__code__.co_filename))
            if definition not in seen and not _is_of_library(definition):
                parts |= _dependencies(definition, seen)
        elif isinstance(value, int | float | str | tuple):
            parts.add(f"{name} = {value!r}")
    return parts


def _names(code: CodeType) -> set[str]:
    """Return the names that a function and the functions defined in it use, as those of an intrinsic are."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _is_of_library(function: FunctionType) -> bool:
    """Return whether to stamp only the file of a function: what it calls belongs to the version of its library."""
    return function.__module__.partition(".")[0] in _LIBRARIES


@functools.cache
def _content(file: str) -> str:
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else file
