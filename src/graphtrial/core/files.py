"""Files that matter are written to a temporary name, flushed to disk and renamed: a reader sees all or nothing."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from platformdirs import user_cache_path

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.scratch import OLD, workshop

DEFAULT_STORE = Path("graphtrial-results/store.sqlite")


def cache_home() -> Path:
    """Return the folder of prepared data: `GRAPHTRIAL_HOME`, else the user's cache folder."""
    configured = os.environ.get("GRAPHTRIAL_HOME")
    return Path(configured) if configured else user_cache_path("graphtrial")


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target` that becomes `target` when the block ends without an error.

    Only a plain file is ever replaced: whoever may write to /dev would lose /dev/null by a rename.
    """
    if target.exists() and not target.is_file():
        raise GraphTrialError(f"cannot write to {target}: it is a folder, a device or a pipe; name a file")
    make_folder(target.parent)
    with workshop(target) as folder:
        temporary = folder / target.name
        temporary.touch()
        yield temporary
        _flush(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)


@contextmanager
def atomic_folder(target: Path, *, flush: bool = True) -> Iterator[Path]:
    """Yield a temporary folder beside `target` that takes its place when the block ends without an error.

    An older `target` is renamed before it is removed: a process that is killed leaves the old folder, which is put back
    where it was by whoever writes there next, or the new one, never a part of one. Without `flush` the same holds
    unless the whole machine goes down at that moment, and thousands of small files are written in a fraction of the
    time; for what can be made again.
    """
    make_folder(target.parent)
    with workshop(target) as folder:
        temporary = folder / "new"
        temporary.mkdir()
        yield temporary
        for file in temporary.rglob("*") if flush else ():
            if file.is_file():
                _flush(file)
        os.chmod(temporary, 0o755)
        if target.exists():
            os.replace(target, folder / OLD)
        os.replace(temporary, target)


def write_text(target: Path, text: str) -> None:
    """Write `text` to `target`, atomically."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read a JSON file; anything else in it is a corrupt file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(f"{path.name} is not valid JSON: {error}") from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return sha256_of_stream(stream)


def sha256_of_stream(stream: BinaryIO) -> str:
    """Return the SHA-256 of what is left of a stream, in hexadecimal."""
    hasher = hashlib.sha256()
    while chunk := stream.read(1 << 20):
        hasher.update(chunk)
    return hasher.hexdigest()


def is_locked(path: Path) -> bool:
    """Tell whether some process holds a lock file at this moment, without changing anything."""
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


def require_file(path: Path, what: str = "") -> Path:
    """Return the path of a file that can be read to its end; a pipe or a device might never end, or never begin."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise GraphTrialError(f"cannot read {what}{path}: {reason(error)}") from error
    if not stat.S_ISREG(mode):
        raise GraphTrialError(f"{path} is {_kind(mode)}, not a regular file")
    return path


def reason(error: BaseException) -> str:
    """Return in one line why a file cannot be read or written, as the system says it."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return next(iter(said.strip().splitlines()), type(error).__name__)


def make_folder(folder: Path) -> Path:
    """Create a folder and its parents, or say plainly why that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise GraphTrialError(f"cannot create the folder {folder}: {reason(error)}") from error
    return folder


def _kind(mode: int) -> str:
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return next((words for test, words in kinds.items() if test(mode)), "a device")


def _flush(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
