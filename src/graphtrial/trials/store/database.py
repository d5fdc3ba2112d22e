"""How the SQLite file of a store is opened: within limits, and for reading alone unless it is to be written."""

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
"""Bytes of the longest text or row that is read or written."""
LONGEST_STEP = 60.0
"""Seconds after which a query is interrupted, and that are waited for another process to finish writing."""
_STEPS = 20_000
_WAL = (2, 2)
_LIMITS = {"SQLITE_LIMIT_LENGTH": LONGEST_TEXT, "SQLITE_LIMIT_ATTACHED": 0, "SQLITE_LIMIT_TRIGGER_DEPTH": 1}


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for one step of reading, all of which sees the same state; no file is made or changed.

    Where a killed process left half a transaction behind, a copy is read in which it is undone.
    """
    with _plainly(path), ExitStack() as stack:
        size = _check_file(path)
        if not size:
            raise GraphTrialError(f"{path} is empty: it is no store")
        connection = stack.enter_context(_opened(path, "mode=ro"))
        try:
            connection.execute("BEGIN")
            schema.is_empty(connection)  # the first look takes the lock
        except sqlite3.OperationalError:
            if not _journal(path).is_file():
                raise
            connection = stack.enter_context(_recovered(path))
            connection.execute("BEGIN")
        schema.check_schema(connection, path)
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for one step that is done as a whole or not at all; one that is not there is made."""
    with _plainly(path):
        _check_file(path)
        with _opened(path, "mode=rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")  # of several processes that start at once, one makes the tables
            try:
                if schema.is_empty(connection):
                    schema.create(connection)
                schema.check_schema(connection, path)
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk ends it already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _check_file(path: Path) -> int:
    """Return the size of a file; anything that is not a plain file is refused without being opened."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise GraphTrialError(f"cannot open the store {path}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no plain file"
        raise GraphTrialError(f"cannot open the store {path}: it is {what}")
    with path.open("rb") as stream:
        header = stream.read(20)
    if len(header) == 20 and tuple(header[18:20]) == _WAL:
        # Not so since schema 3: whoever reads a file with a write-ahead log makes two more files beside it.
        with _opened(path, "immutable=1") as connection:
            schema.check_schema(connection, path)
        raise GraphTrialError(
            f"the store {path} has a write-ahead log, which none has that graphtrial writes; "
            f"`sqlite3 {path} 'PRAGMA journal_mode = DELETE'` ends that"
        )
    return found.st_size


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    # One short connection per step: nothing is shared between processes, and a killed one leaves nothing locked.
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
    """Open a copy of a store with its rollback journal, which undoes what a killed process had half written."""
    with temporary_folder() as folder:
        copy = Path(folder) / "store.sqlite"
        shutil.copyfile(_journal(path), _journal(copy))
        shutil.copyfile(path, copy)
        with _opened(copy, "mode=rw") as connection:
            yield connection


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one line."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        said = "a query took too long" if str(error) == "interrupted" else str(error)
        raise GraphTrialError(f"the store {path} cannot be used: {said}") from error
    except OSError as error:
        raise GraphTrialError(f"the store {path} cannot be used: {error.strerror or error}") from error
