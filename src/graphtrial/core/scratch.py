"""Temporary folders that are gone when their process is, whether it ended or was killed.

Each is locked by the process that made it for as long as that lives. One that nobody has locked is a leftover: whoever
next writes to the same place removes it, and `graphtrial doctor --clean` removes all of them.
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
"""What a workshop calls the folder that its target had before."""
_RANDOM = 9
_LONGEST = 100


@contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target`, on the same disk, that is removed in the end, come what may."""
    sweep(target.parent, target.name)
    folder, lock = _claimed(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder among the temporary files of the system."""
    with workshop(Path(tempfile.gettempdir()) / "scratch") as folder:
        yield folder


def leftovers(folder: Path, name: str = "") -> list[Path]:
    """Return the workshops in a folder, for a target of this name or for any, whose process is gone."""
    found = []
    for path in _workshops(folder, name):
        lock = _lock(path)
        if lock is not None:
            os.close(lock)
            found.append(path)
    return found


def sweep(folder: Path, name: str = "") -> list[Path]:
    """Remove the workshops whose process is gone, and return them.

    One that was killed while it exchanged a folder for a new one has the old folder, which is put back.
    """
    removed = []
    for path in _workshops(folder, name):
        lock = _lock(path)
        if lock is None:
            continue
        try:
            target = folder / path.name[1 : -len(SUFFIX) - _RANDOM]
            if (path / OLD).is_dir() and not target.exists():
                os.replace(path / OLD, target)
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
        finally:
            os.close(lock)
    return removed


def _workshops(folder: Path, name: str) -> list[Path]:
    """Return the folders that look like workshops and are ours."""
    start = f".{name[:_LONGEST]}." if name else "."
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
    except OSError:  # there is no such folder, or it is none of our business
        return []


def _claimed(target: Path) -> tuple[Path, int]:
    while True:
        prefix = f".{target.name[:_LONGEST]}."
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix, suffix=SUFFIX))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return folder, lock  # a disk without locks: nobody takes it for a leftover either
            os.close(lock)  # somebody swept in the moment between
            continue
        if folder.exists():
            return folder, lock
        os.close(lock)


def _lock(path: Path) -> int | None:
    """Lock a workshop whose process is gone; nothing where it lives, or where that cannot be told."""
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
