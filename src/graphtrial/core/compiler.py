"""Numba decorators with a crash-safe compilation cache on disk."""

from __future__ import annotations

import functools
import hashlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import IO, Any, TypeVar, cast

from filelock import FileLock, Timeout
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.plugins.packages import installed_version, requirement

Array = Any
F = TypeVar("F", bound=Callable[..., Any])
_DIGEST = 32
_WAIT_SECONDS = 300  # the interpreter of programs takes 110 on an idle core
_LONGEST = 300


class _CacheFiles(IndexDataCacheFile):
    """Cache files of one function, safe against killed processes and concurrent compilation.

    Numba numbers its data files and names one in the index before it writes it: a killed process leaves an index
    pointing to code of an earlier source, and two processes that compile other signatures concurrently may pick the
    same name, so that the wrong code runs. Here the name of a data file is a hash of source and signature, the file is
    written before the index, and the index is updated under a lock. Each file ends with the SHA-256 of its content; a
    corrupt one is recompiled.
    """

    def save(self, key: Any, data: Any) -> None:
        base = self._index_name.removesuffix(".nbi")
        name = f"{base}.{hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        with FileLock(f"{self._index_path}.lock"):
            index = self._load_index()
            index[key] = name
            self._save_index(index)
            for old in Path(self._cache_path).glob(f"{base}.*.nbc"):
                if old.name not in index.values():
                    old.unlink(missing_ok=True)

    def _load_index(self) -> dict[Any, str]:
        return self._verified(self._index_path, super()._load_index) or {}

    def _load_data(self, name: str) -> Any:
        return self._verified(self._data_path(name), lambda: super(_CacheFiles, self)._load_data(name))

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as stream:
            stream.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    @staticmethod
    def _verified(path: str, load: Callable[[], Any]) -> Any:
        """Return `load()`, or None where the file is absent, corrupt or written by another version of Numba."""
        try:
            written = Path(path).read_bytes()
            return load() if hashlib.sha256(written[:-_DIGEST]).digest() == written[-_DIGEST:] else None
        except Exception:  # noqa: BLE001 - whatever cannot be loaded is recompiled
            return None


class _Cache(FunctionCache):
    """Numba's cache of one function, stamped with the content of every source file compiled into it.

    One process at a time compiles the function, from the failed load to the save or the error; another one waits and
    loads the result, or compiles after `_WAIT_SECONDS`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CacheFiles(self._cache_path, self._impl.filename_base, _stamp(function))
        self._locks: dict[int, FileLock] = {}

    @property
    def _compiling(self) -> FileLock:
        """The lock of this process: one from before a fork cannot be acquired."""
        process = os.getpid()
        if process not in self._locks:
            self._locks = {process: FileLock(f"{self._cache_file._index_path}.compile.lock")}
        return self._locks[process]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = self._load(sig, target_context)
        if loaded is None:
            with suppress(OSError, Timeout):  # a folder that cannot be written, or a process that never ends
                self._compiling.acquire(timeout=_WAIT_SECONDS)
                loaded = self._load(sig, target_context)
            if loaded is not None:
                self._compiling.release()
        return loaded

    def has_overload(self, target_context: Any) -> bool:
        """Return whether the function was compiled for this processor by an earlier process."""
        magic = target_context.codegen().magic_tuple()
        return any(key[1] == magic for key in self._cache_file._load_index())

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        finally:
            self.release()

    def release(self) -> None:
        """Let other processes compile; does nothing without the lock."""
        self._compiling.release()

    def _load(self, sig: Any, target_context: Any) -> Any:
        _import_without_scipy()
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - code that this LLVM rejects is recompiled
            return None


@functools.cache
def _import_without_scipy() -> None:
    """Import what numba needs to load a kernel, without all of `scipy.linalg`, which takes a third of that time.

    Numba only asks whether the BLAS of SciPy can be imported, and imports it again where a kernel calls it.
    """
    if "scipy.linalg" in sys.modules or find_spec("scipy") is None:
        return
    stubs = {name: ModuleType(name) for name in ("scipy.linalg", "scipy.linalg.cython_blas")}
    sys.modules.update(stubs)
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        for name in stubs:
            del sys.modules[name]


def _compile(**options: Any) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        dispatcher: Any = njit(boundscheck=False, error_model="numpy", nogil=True, **options)(function)
        dispatcher._cache = _Cache(function)
        dispatcher._compiler.compile = _releasing(dispatcher._compiler.compile, dispatcher._cache)
        dispatcher._compile_for_args = _explaining(dispatcher._compile_for_args, function)
        return cast(F, dispatcher)

    return decorate


def _releasing(compile_: Callable[..., Any], cached: _Cache) -> Callable[..., Any]:
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


def _stamp(function: Callable[..., Any]) -> str:
    """Hash the source files of a function and of its compiled callees, and the global constants that it uses."""
    hasher = hashlib.sha256()
    for part in sorted(_dependencies(function, set())):
        hasher.update(part.encode())
    return hasher.hexdigest()


def _dependencies(function: Any, seen: set[Any]) -> set[str]:
    seen.add(function)
    parts = {_content(function.__code__.co_filename), _content(__file__)}  # options of the decorators are here
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            parts.add(_content(value.__file__ or value.__name__))
        elif hasattr(value, "py_func") and value.py_func not in seen:
            parts |= _dependencies(value.py_func, seen)
        elif isinstance(definition := getattr(value, "_defn", value), FunctionType):  # intrinsics and overloads
            parts.add(_content(definition.__code__.co_filename))
        elif isinstance(value, int | float | str | tuple):
            parts.add(f"{name} = {value!r}")
    return parts


@functools.cache
def _content(file: str) -> str:
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else file


compiled = _compile(fastmath={"contract"})
"""`njit` with a disk cache; allows fused multiply-add (`contract`), but no reassociation of sums."""

reordered = _compile(fastmath={"contract", "reassoc"})
"""`compiled` that may sum in any order: the same on every call, but not the same on every processor."""

exact = _compile(fastmath=False)
"""`njit` with a disk cache and strict IEEE rounding: no fused multiply-add.

Stated, not left to the default: numba would pass the options of a `compiled` caller on to a function that is first
compiled for it, and the bits would depend on which of the two was called first.
"""
