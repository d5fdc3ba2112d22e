"""Atomic writes (temporary file, fsync, rename), checksums, locks and file checks."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from platformdirs import user_cache_path

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.temporary import OLD, staging_folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_STORE = Path("graphtrial-results/store.sqlite")
DEFAULT_REPORT = Path("graphtrial-results/report")


def cache_home() -> Path:
    """Return the cache folder: `GRAPHTRIAL_HOME`, else the user's cache folder of the platform."""
    configured = os.environ.get("GRAPHTRIAL_HOME")
    return Path(configured) if configured else user_cache_path("graphtrial")


def custom_home() -> Path:
    """Return the folder with the recipes of custom datasets."""
    return cache_home() / "own"


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path that is fsynced and renamed to `target` when the block ends without an exception.

    Only a regular file is ever replaced: a rename over /dev/null would destroy the device.
    """
    if target.exists() and not target.is_file():
        raise GraphTrialError(f"cannot write to {target}: it is a folder, a device or a pipe; name a file")
    make_folder(target.parent)
    with staging_folder(target) as folder:
        temporary = folder / target.name
        temporary.touch()
        yield temporary
        _fsync(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)


@contextmanager
def atomic_folder(target: Path, *, flush: bool = True) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `target` when the block ends without an exception.

    An older `target` is moved aside before it is removed: a killed process leaves the new folder or the old one, which
    the next writer moves back, never a partial one. `flush=False` skips fsync: much faster for thousands of small
    files, but not safe against a crash of the machine; for data that can be rebuilt.
    """
    make_folder(target.parent)
    with staging_folder(target) as folder:
        temporary = folder / "new"
        temporary.mkdir()
        yield temporary
        for file in temporary.rglob("*") if flush else ():
            if file.is_file():
                _fsync(file)
        os.chmod(temporary, 0o755)
        if target.exists():
            os.replace(target, folder / OLD)
        os.replace(temporary, target)


def write_text(target: Path, text: str) -> None:
    """Write `text` to `target`, atomically."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read a JSON file; raise `CorruptFileError` for invalid JSON and numbers that are not finite."""
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text, parse_constant=refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(f"{path.name} is not valid JSON: {error}") from error


def refuse_constant(constant: str) -> NoReturn:
    """Raise `ValueError` for `NaN` and `Infinity`, which Python reads and JSON does not have."""
    raise ValueError(f"{constant} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large a number")
    return value


def read_toml(path: Path, description: str) -> dict[str, Any]:
    """Read a TOML file of a user; `description`, such as `the study`, names it in error messages."""
    require_file(path, f"{description} ")
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GraphTrialError(f"cannot read {description} {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise GraphTrialError(f"{description} {path} is not valid TOML: {error}") from error
    return values


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return sha256_of_stream(stream)


def sha256_of_stream(stream: BinaryIO) -> str:
    """Return the SHA-256 of the rest of a stream, in hexadecimal."""
    hasher = hashlib.sha256()
    while chunk := stream.read(1 << 20):
        hasher.update(chunk)
    return hasher.hexdigest()


def is_locked(path: Path) -> bool:
    """Return whether a process holds this lock file; changes nothing."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def require_file(path: Path, description: str = "") -> Path:
    """Return `path` if it is a regular file; reading a pipe or a device might block forever."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise GraphTrialError(f"cannot read {description}{path}: {reason(error)}") from error
    if not stat.S_ISREG(mode):
        raise GraphTrialError(f"{path} is {_file_type(mode)}, not a regular file")
    return path


def reason(error: BaseException) -> str:
    """Return the operating system's message of a file error, on one line."""
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return next(iter(message.strip().splitlines()), type(error).__name__)


def make_folder(folder: Path) -> Path:
    """Create a folder and its parents; raise `GraphTrialError` with the reason where that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise GraphTrialError(f"cannot create the folder {folder}: {reason(error)}") from error
    return folder


def _file_type(mode: int) -> str:
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return next((words for test, words in kinds.items() if test(mode)), "a device")


def _fsync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
