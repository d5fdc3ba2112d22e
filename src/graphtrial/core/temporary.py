"""Temporary folders that do not outlive a killed process.

Each is locked by its process. One without a lock is stale: the next write to the same target removes it, and
`graphtrial doctor --clean` removes all of them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUFFIX = ".graphtrial.tmp"
OLD = "old"
"""Name in the staging folder of the target's previous version."""
_SUFFIX_LENGTH = 9
_MAX_NAME_LENGTH = 100


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target`, on the same file system, that is removed at the end of the block."""
    remove_stale_folders(target.parent, target.name)
    folder, lock = _create_locked(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield an empty folder in the system's temporary directory."""
    with staging_folder(Path(tempfile.gettempdir()) / "scratch") as folder:
        yield folder


def stale_folders(folder: Path, name: str = "") -> list[Path]:
    """Return the staging folders in a folder, for the target `name` or for any, whose process has ended."""
    stale = []
    for path in _staging_folders(folder, name):
        lock = _lock(path)
        if lock is not None:
            os.close(lock)
            stale.append(path)
    return stale


def remove_stale_folders(folder: Path, name: str = "") -> list[Path]:
    """Remove the staging folders whose process has ended, and return them.

    A previous version of the target left in one, by a process killed while replacing it, is moved back.
    """
    removed = []
    for path in _staging_folders(folder, name):
        lock = _lock(path)
        if lock is None:
            continue
        try:
            target = folder / path.name[1 : -len(SUFFIX) - _SUFFIX_LENGTH]
            if (path / OLD).is_dir() and not target.exists():
                os.replace(path / OLD, target)
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
        finally:
            os.close(lock)
    return removed


def _staging_folders(folder: Path, name: str) -> list[Path]:
    """Return the staging folders that this user owns."""
    start = f".{name[:_MAX_NAME_LENGTH]}." if name else "."
    try:
        with os.scandir(folder) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.name.startswith(start)
                and entry.name.endswith(SUFFIX)
                and entry.is_dir(follow_symlinks=False)
                and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
            )
    except OSError:  # no such folder, or not readable
        return []


def _create_locked(target: Path) -> tuple[Path, int]:
    while True:
        prefix = f".{target.name[:_MAX_NAME_LENGTH]}."
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix, suffix=SUFFIX))
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            if not target.parent.is_dir():
                raise
            continue  # another process removed it before it was locked
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return folder, lock  # a file system without locks: no process takes it for a stale one either
            os.close(lock)  # another process removed it between creation and lock
            continue
        if folder.exists():
            return folder, lock
        os.close(lock)


def _lock(path: Path) -> int | None:
    """Lock a stale staging folder and return the descriptor; None where its process lives or locking fails."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
