"""Journal of the SQLite file of a store: a write-ahead log while it is kept open, a rollback journal otherwise."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from graphtrial.trials.store.connection import LONGEST_STEP

LOCAL = frozenset(
    {
        *("apfs", "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs"),
        *("ntfs3", "overlay", "ramfs", "reiserfs", "tmpfs", "vfat", "xfs", "zfs"),
    }
)
"""File systems of one machine, whose processes share the memory-mapped index of a write-ahead log."""
MOUNTS = Path("/proc/self/mountinfo")
_WAL_HEADER = b"\x02\x02"  # versions of the file format for writing and reading, bytes 18 and 19
_ATTEMPTS = 20
_SWITCH_MILLISECONDS = 5000


def has_log(path: Path) -> bool:
    """Return whether the header of an SQLite file says that it has a write-ahead log.

    Reads the file, so not for one that this process has open: closing any descriptor of a file drops the locks of
    SQLite in the same process.
    """
    with path.open("rb") as stream:
        return stream.read(20)[18:] == _WAL_HEADER


def log_of(path: Path) -> Path:
    """Return the write-ahead log next to a file; it may not exist."""
    return path.with_name(f"{path.name}-wal")


def index_of(path: Path) -> Path:
    """Return the index of the write-ahead log, which exists as long as a process has the file open."""
    return path.with_name(f"{path.name}-shm")


def rollback_of(path: Path) -> Path:
    """Return the rollback journal next to a file; it exists only within a transaction, or after a kill."""
    return path.with_name(f"{path.name}-journal")


def is_local(path: Path) -> bool:
    """Return whether a file is on a file system that is known to be local; unknown is not."""
    try:
        mounts = [line.split() for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return False
    above = {str(folder) for folder in path.resolve().parents}
    points = [(_unescaped(words[4]), words[words.index("-") + 1]) for words in mounts if "-" in words[6:-1]]
    kind = max((len(point), number, kind) for number, (point, kind) in enumerate(points) if point in above)[2]
    return kind in LOCAL


def start_log(connection: sqlite3.Connection, path: Path) -> None:
    """Switch to a write-ahead log on a local disk; where others read for long, the rollback journal stays."""
    if is_local(path):
        connection.execute(f"PRAGMA busy_timeout = {_SWITCH_MILLISECONDS}")
        with suppress(sqlite3.OperationalError):  # locked
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * LONGEST_STEP)}")


def close_as_one_file(connection: sqlite3.Connection, path: Path) -> None:
    """Close a connection; the last one of all moves the log into the file and returns to a rollback journal.

    Of two processes that close at once each may find the other: both look again.
    """
    for attempt in range(_ATTEMPTS):
        try:
            closed = _end_log(connection)
        finally:
            connection.close()
        if closed or not path.is_file() or index_of(path).exists():  # where there is an index, another one has it open
            return
        time.sleep(0.001 * attempt * (1 + os.getpid() % 7))  # two processes do not keep in step
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)


def _end_log(connection: sqlite3.Connection) -> bool:
    """Return to a rollback journal, unless another connection has the file open; return whether there is none now."""
    # Other errors, of a damaged file or a full disk, are left to the next transaction, which says them.
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            connection.execute("PRAGMA journal_mode = DELETE")
        return True
    return False


def _unescaped(point: str) -> str:
    """Decode the octal escapes of a mount point; see proc(5)."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
