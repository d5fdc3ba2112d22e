"""Transactions on the SQLite file of a store: on a connection that is held open, or on one of their own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.temporary import temporary_folder
from graphtrial.trials.store import schema
from graphtrial.trials.store.connection import check_file, connect, one_line_errors, transaction
from graphtrial.trials.store.journal import (
    close_as_one_file,
    has_log,
    index_of,
    log_of,
    rollback_of,
    start_log,
)


@dataclass(eq=False)
class _OpenConnection:
    """A connection of this process that is held open, and how many blocks keep it."""

    connection: sqlite3.Connection
    thread: int
    blocks: int = 1


_open_connections: dict[tuple[int, int] | None, _OpenConnection] = {}
_of_the_parent: list[_OpenConnection] = []
_reading: dict[tuple[int, int] | None, list[str]] = {}
"""Modes of the open read connections of this process."""


def _forget() -> None:
    # A connection must not be used in a forked process, nor closed there, which would drop the index of the log.
    _of_the_parent.extend(_open_connections.values())
    _open_connections.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def kept_open(path: Path) -> Iterator[None]:
    """Keep a store open inside the block: all transactions of this thread share one connection.

    Meanwhile a store on a local disk has a write-ahead log: reading and writing do not wait for each other, and a
    commit waits for the disk only where asked. The last process to close the store turns it into one file again; after
    a kill the next writer does.
    """
    with one_line_errors(path):
        key = _key(path)
        held = _open_connections.get(key)
        if held is None:
            connection = connect(path, "mode=rw")
            try:
                start_log(connection, path)
                with transaction(connection, "BEGIN IMMEDIATE"):  # creates log and index, by which readers know
                    schema.check_schema(connection, path)
                status = os.stat(path)
            except BaseException:
                connection.close()
                raise
            key = (status.st_dev, status.st_ino)
            held = _open_connections[key] = _OpenConnection(connection, threading.get_ident(), 0)
    held.blocks += 1
    try:
        yield
    finally:
        held.blocks -= 1
        if not held.blocks and held not in _of_the_parent:
            del _open_connections[key]
            with one_line_errors(path):
                close_as_one_file(held.connection, path)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for one read transaction; no file is created or changed.

    What a killed process left of a transaction, a rollback journal or a write-ahead log, is applied to a copy.
    """
    with one_line_errors(path), ExitStack() as stack:
        status = check_file(path)
        held = _connection_of(path)
        if held is not None:
            yield stack.enter_context(transaction(held, "BEGIN"))
            return
        if status is None or not status.st_size:
            raise GraphTrialError(f"{path} is empty and not a store")
        try:
            connection = stack.enter_context(_opened(path))
        except sqlite3.OperationalError:
            if not rollback_of(path).is_file() and not log_of(path).is_file():
                raise
            connection = stack.enter_context(_recovered(path))
        schema.check_schema(connection, path)
        yield connection


@contextmanager
def writing(path: Path, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
    """Open a store for one write transaction; a missing file is created.

    A commit survives the end of the process in any case, and a power failure if it is `durable` or the store is not
    held open.
    """
    with one_line_errors(path):
        check_file(path)
        held = _connection_of(path)
        if held is not None:
            held.execute(f"PRAGMA synchronous = {'FULL' if durable or not _has_log(held) else 'NORMAL'}")
            with transaction(held, "BEGIN IMMEDIATE"):
                yield held
            return
        connection = connect(path, "mode=rwc")
        try:
            with transaction(connection, "BEGIN IMMEDIATE"):  # only one of several processes creates the tables
                if schema.is_empty(connection):
                    schema.create(connection)
                schema.check_schema(connection, path)
                yield connection
        except BaseException:
            connection.close()  # as it is, since it may not be ours
            raise
        close_as_one_file(connection, path)


def _connection_of(path: Path) -> sqlite3.Connection | None:
    """Return the connection that this thread keeps open, unless it is within a transaction."""
    held = _open_connections.get(_key(path))
    if held is None or held.thread != threading.get_ident() or held.connection.in_transaction:
        return None
    return held.connection


def _key(path: Path) -> tuple[int, int] | None:
    """Return what identifies a file, whatever its name: one that was replaced is another one."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _has_log(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal")


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for reading; SQLite creates no file beside it."""
    # Only for the first connection: closing any descriptor of a file drops the locks of this process on it.
    modes = _reading.setdefault(_key(path), [])
    mode = modes[-1] if modes else _read_mode(path)
    modes.append(mode)
    try:
        with closing(connect(path, mode)) as connection, transaction(connection, "BEGIN"):
            schema.is_empty(connection)  # the first read takes the lock
            yield connection
    finally:
        modes.remove(mode)


def _read_mode(path: Path) -> str:
    if _key(path) in _open_connections or not has_log(path) or index_of(path).exists():
        return "mode=ro"
    if log_of(path).exists():  # and no process has it open: left by a killed one, and copied from elsewhere
        raise sqlite3.OperationalError("the write-ahead log has no index")
    return "immutable=1"


@contextmanager
def _recovered(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a store with its journal or log, which SQLite applies."""
    with temporary_folder() as folder:
        copy = Path(folder) / "store.sqlite"
        for journal in (rollback_of, log_of):
            if journal(path).is_file():
                shutil.copyfile(journal(path), journal(copy))
        shutil.copyfile(path, copy)
        with closing(connect(copy, "mode=rw")) as connection, transaction(connection, "BEGIN"):
            yield connection
