"""How kernels are compiled, and how what was compiled is kept on disk between processes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from filelock import FileLock
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

Array = Any
_DIGEST = 32


class _Files(IndexDataCacheFile):
    """The files of one kernel, safe against a kill and against several processes that compile at once.

    Numba counts its data files through and names one in the index before it writes it. A process that is killed in
    between leaves an index that leads to the code of an earlier source, and two processes that compile for different
    types at once may give both the same name: either way other code would run than was asked for. Here the name of a
    data file follows from the source and the types, it is written first, and one process at a time changes the index.
    Each file ends with the SHA-256 of the rest: one that was changed or cut off is compiled again.
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

    def _load_index(self) -> dict[Any, str]:
        return self._verified(self._index_path, super()._load_index) or {}

    def _load_data(self, name: str) -> Any:
        return self._verified(self._data_path(name), lambda: super(_Files, self)._load_data(name))

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as stream:
            stream.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    @staticmethod
    def _verified(path: str, load: Callable[[], Any]) -> Any:
        """Return what numba loads from a file, or nothing where that is absent, damaged, or of a numba that differs."""
        try:
            written = Path(path).read_bytes()
            return load() if hashlib.sha256(written[:-_DIGEST]).digest() == written[-_DIGEST:] else None
        except Exception:  # noqa: BLE001 - whatever cannot be loaded is compiled again
            return None


class _Cache(FunctionCache):
    """Numba's cache of one kernel, whose stamp is the content of all that is compiled into it, in whatever file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, _stamp(function))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - code that LLVM does not take any more is compiled again
            return None


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
