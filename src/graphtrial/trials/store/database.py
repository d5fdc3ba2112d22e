"""Connections to the SQLite file of a store, read-only or for one transaction, with limits."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.temporary import temporary_folder
from graphtrial.trials.store import schema

LONGEST_TEXT = 1_000_000
"""Maximum size of a text or row in bytes."""
LONGEST_STEP = 60.0
"""Timeout of a query, and of waiting for the lock of another process, in seconds."""
_STEPS = 20_000
_WAL = (2, 2)
_LIMITS = {"SQLITE_LIMIT_LENGTH": LONGEST_TEXT, "SQLITE_LIMIT_ATTACHED": 0, "SQLITE_LIMIT_TRIGGER_DEPTH": 1}


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for one read transaction; no file is created or changed.

    Where a killed process left a rollback journal, a recovered copy is read.
    """
    with _one_line_errors(path), ExitStack() as stack:
        size = _check_file(path)
        if not size:
            raise GraphTrialError(f"{path} is empty and not a store")
        connection = stack.enter_context(_opened(path, "mode=ro"))
        try:
            connection.execute("BEGIN")
            schema.is_empty(connection)  # the first read takes the lock
        except sqlite3.OperationalError:
            if not _journal(path).is_file():
                raise
            connection = stack.enter_context(_recovered(path))
            connection.execute("BEGIN")
        schema.check_schema(connection, path)
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for one write transaction; a missing file is created."""
    with _one_line_errors(path):
        _check_file(path)
        with _opened(path, "mode=rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")  # only one of several processes creates the tables
            try:
                if schema.is_empty(connection):
                    schema.create(connection)
                schema.check_schema(connection, path)
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk has rolled it back already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _check_file(path: Path) -> int:
    """Return the size of a file, 0 if missing; anything but a regular file is an error."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise GraphTrialError(f"cannot open the store {path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        subject = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise GraphTrialError(f"cannot open the store {path}: it is {subject}")
    with path.open("rb") as stream:
        header = stream.read(20)
    if len(header) == 20 and tuple(header[18:20]) == _WAL:
        # Since schema 3 there is no write-ahead log: reading one creates two more files.
        with _opened(path, "immutable=1") as connection:
            schema.check_schema(connection, path)
        raise GraphTrialError(
            f"the store {path} has a write-ahead log, which graphtrial does not use; "
            f"`sqlite3 {path} 'PRAGMA journal_mode = DELETE'` removes it"
        )
    return status.st_size


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    # One short connection per transaction: processes share nothing, and a killed one leaves no lock.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=LONGEST_STEP, isolation_level=None
    )
    try:
        connection.row_factory = sqlite3.Row
        if hasattr(connection, "setlimit"):  # since Python 3.11
            for name, limit in _LIMITS.items():
                connection.setlimit(getattr(sqlite3, name), limit)
        deadline = time.monotonic() + 2 * LONGEST_STEP  # one to wait, one to work
        connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}")
        yield connection
    finally:
        connection.close()


@contextmanager
def _recovered(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a store with its rollback journal, which SQLite rolls back."""
    with temporary_folder() as folder:
        copy = Path(folder) / "store.sqlite"
        shutil.copyfile(_journal(path), _journal(copy))
        shutil.copyfile(path, copy)
        with _opened(copy, "mode=rw") as connection:
            yield connection


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


@contextmanager
def _one_line_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one-line messages."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        message = "a query took too long" if str(error) == "interrupted" else str(error)
        raise GraphTrialError(f"the store {path} cannot be used: {message}") from error
    except OSError as error:
        raise GraphTrialError(f"the store {path} cannot be used: {error.strerror or error}") from error
