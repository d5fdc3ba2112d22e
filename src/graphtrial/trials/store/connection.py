"""One connection to the SQLite file of a store, with limits, and its errors in one line."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphtrial.core.errors import GraphTrialError

LONGEST_TEXT = 1_000_000
"""Maximum size of a text or row in bytes."""
LONGEST_STEP = 60.0
"""Timeout of a query, and of waiting for the lock of another process, in seconds."""
_STEPS = 20_000
_LIMITS = {"SQLITE_LIMIT_LENGTH": LONGEST_TEXT, "SQLITE_LIMIT_ATTACHED": 0, "SQLITE_LIMIT_TRIGGER_DEPTH": 1}


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file in a mode of SQLite's URIs, such as `mode=ro`; any thread may close it."""
    address = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(address, uri=True, timeout=LONGEST_STEP, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        if hasattr(connection, "setlimit"):  # since Python 3.11
            for name, limit in _LIMITS.items():
                connection.setlimit(getattr(sqlite3, name), limit)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Iterator[sqlite3.Connection]:
    """Execute the block in one transaction with a time limit; it is rolled back on any exception."""
    deadline = time.monotonic() + 2 * LONGEST_STEP  # one to wait, one to work
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
    connection.execute(begin)
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def check_file(path: Path) -> os.stat_result | None:
    """Return the status of a file, `None` if missing; anything but a regular file is an error."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GraphTrialError(f"cannot open the store {path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        subject = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise GraphTrialError(f"cannot open the store {path}: it is {subject}")
    return status


@contextmanager
def one_line_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one-line messages."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        message = "a query took too long" if str(error) == "interrupted" else str(error)
        raise GraphTrialError(f"the store {path} cannot be used: {message}") from error
    except OSError as error:
        raise GraphTrialError(f"the store {path} cannot be used: {error.strerror or error}") from error
