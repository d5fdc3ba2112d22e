"""Crash-safe compilation cache of Numba on disk."""

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
from types import ModuleType
from typing import IO, Any

from filelock import FileLock, Timeout
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import cpu_target

from graphtrial.core.compilation.stamp import stamp

_DIGEST = 32
_WAIT_SECONDS = 300  # the interpreter of programs takes 110 on an idle core


class CacheFiles(IndexDataCacheFile):
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
        return self._verified(self._data_path(name), lambda: super(CacheFiles, self)._load_data(name))

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


class KernelCache(FunctionCache):
    """Numba's cache of one function, stamped with the content of every source file compiled into it.

    One process at a time compiles the function, from the failed load to the save or the error; another one waits and
    loads the result, or compiles after `_WAIT_SECONDS`. `options_of` is the file with the options of the compiler.
    """

    _stamped: CacheFiles | None = None

    def __init__(self, function: Callable[..., Any], *, options_of: str) -> None:
        super().__init__(function)
        self._function, self._options_of = function, options_of
        self._locks: dict[int, FileLock] = {}

    @property
    def _cache_file(self) -> Any:
        """The files, stamped when they are first used: what a function calls may be defined below it.

        Each kind of processor has files of its own, since constants of kernels may depend on it: machines that share a
        folder would otherwise discard each other's kernels.
        """
        if self._stamped is None:
            base = f"{self._impl.filename_base}.{_processor()}"
            self._stamped = CacheFiles(self._cache_path, base, stamp(self._function, self._options_of))
        return self._stamped

    @_cache_file.setter
    def _cache_file(self, files: Any) -> None:
        """Ignore the files of Numba's constructor, stamped with the source of the function alone."""

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
def _processor() -> str:
    """Return a hash of the instruction set that numba compiles for."""
    target = cpu_target.target_context.codegen().magic_tuple()
    return hashlib.sha256(repr(target).encode()).hexdigest()[:8]


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
