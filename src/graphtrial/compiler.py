"""How kernels are compiled, and how what was compiled is kept on disk between processes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from filelock import FileLock
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

Array = Any


class _Files(IndexDataCacheFile):
    """The files of one kernel, safe against a kill and against several processes that compile at once.

    Numba counts its data files through and names one in the index before it writes it. A process that is killed in
    between leaves an index that leads to the code of an earlier source, and two processes that compile for different
    types at once may give both the same name: either way other code would run than was asked for. Here the name of a
    data file follows from the source and the types, it is written first, and one process at a time changes the index.
    """

    def save(self, key: Any, data: Any) -> None:
        base = self._index_name.removesuffix(".nbi")
        name = f"{base}.{hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        with FileLock(f"{self._index_path}.lock"):
            known = self._load_index()
            known[key] = name
            self._save_index(known)
            for old in Path(self._cache_path).glob(f"{base}.*.nbc"):
                if old.name not in known.values():
                    old.unlink(missing_ok=True)


class _Cache(FunctionCache):
    """Numba's cache of one kernel, whose stamp is the content of all that is compiled into it, in whatever file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, _stamp(function))


def _compile(**options: Any) -> Any:
    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(boundscheck=False, error_model="numpy", **options)(function)
        dispatcher._cache = _Cache(function)
        return dispatcher

    return decorate


def _stamp(function: Callable[..., Any]) -> str:
    """Return a hash of the files of a kernel and of the kernels it calls, and of the constants it was given."""
    hasher = hashlib.sha256()
    for part in sorted(_parts(function, set())):
        hasher.update(part.encode())
    return hasher.hexdigest()


def _parts(function: Any, seen: set[Any]) -> set[str]:
    seen.add(function)
    parts = {_content(function.__code__.co_filename)}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            parts.add(_content(value.__file__ or value.__name__))
        elif hasattr(value, "py_func") and value.py_func not in seen:
            parts |= _parts(value.py_func, seen)
        elif isinstance(value, int | float | str | tuple):
            parts.add(f"{name} = {value!r}")
    return parts


@cache
def _content(file: str) -> str:
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else file


compiled: Any = _compile(fastmath={"contract"})
"""Compile at first use and keep the result on disk. A product and a sum may be rounded once; no sum is reordered."""

exact: Any = _compile()
"""The same, but every product and every sum is rounded by itself, as by compilers that may not join them."""
