"""A copy of a store for anyone: finished trials alone, and nothing that names a machine or a person."""

from __future__ import annotations

import getpass
import json
import lzma
import platform
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphtrial.errors import GraphTrialError
from graphtrial.files import atomic_path
from graphtrial.spec import canonical_json
from graphtrial.studies.store import FINISHED, Store

ENVIRONMENT = ("python", "system", "machine", "cpu", "cores", "threads", "packages", "code", "together")
"""What a shipped trial says of where it ran; anything else is left out."""
PATH = re.compile(r"(?:^|[\s\"'=(\[:])(?:/(?:home|root|Users|tmp|var|mnt|work|data|opt|usr|private)/|~/|[A-Za-z]:\\)")
DAY = 86_400.0


@dataclass(frozen=True)
class Shipped:
    """What was written: where, how many trials and epochs, how many unfinished ones were left behind, and its size."""

    path: Path
    trials: int
    epochs: int
    left: int
    size: int


def ship(store: Store, target: Path) -> Shipped:
    """Write a copy of a store to `target`, packed if its name ends in .xz, and return what is in it.

    Unfinished trials are left behind with their tracebacks. Times are cut to the day. A text that still holds the name
    of this machine or of its user, or a path, is an error that says where.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.sqlite"
        with sqlite3.connect(store.path) as source, sqlite3.connect(copy) as destination:
            source.backup(destination)
        connection = sqlite3.connect(copy)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            left = _clean(connection)
            trials, epochs = (
                connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("trials", "epochs")
            )
            if not trials:
                raise GraphTrialError(f"the store {store.path} has no finished trial to ship")
            _check(connection)
            connection.execute("VACUUM")
        finally:
            connection.close()
        content = copy.read_bytes()
    packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME) if target.suffix == ".xz" else content
    with atomic_path(target) as temporary:
        temporary.write_bytes(packed)
    return Shipped(target, trials, epochs, left, len(packed))


def _clean(connection: sqlite3.Connection) -> int:
    """Remove what is not to be shipped; return the number of trials that were removed."""
    marks = ", ".join("?" * len(FINISHED))
    left = connection.execute(f"DELETE FROM trials WHERE status NOT IN ({marks})", FINISHED).rowcount
    connection.execute("DELETE FROM epochs WHERE trial NOT IN (SELECT id FROM trials)")
    for trial, text in connection.execute("SELECT id, environment FROM trials").fetchall():
        kept = {key: value for key, value in json.loads(text).items() if key in ENVIRONMENT}
        connection.execute("UPDATE trials SET environment = ? WHERE id = ?", (canonical_json(kept), trial))
    connection.execute(
        "UPDATE trials SET error = NULL, started = CAST(started / ?1 AS INTEGER) * ?1, "
        "finished = CAST(finished / ?1 AS INTEGER) * ?1",
        (DAY,),
    )
    connection.commit()
    return int(left)


def _check(connection: sqlite3.Connection) -> None:
    private = [name for name in (platform.node(), _user(), str(Path.home())) if len(name) > 2 and name != "root"]
    for where, text in _texts(connection):
        for name in private:
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
                raise GraphTrialError(
                    f"{where} holds '{name}', which names this machine or its user; it was not shipped"
                )
        if PATH.search(text):
            raise GraphTrialError(f"{where} holds a path of this machine; it was not shipped: {text[:200]}")


def _texts(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield every text of every table, and where it stands."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        columns = [column[0] for column in cursor.description]
        for row in cursor:
            for column, value in zip(columns, row, strict=True):
                if isinstance(value, str):
                    yield f"{column} of {table} {row[0]}", value


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a machine without a list of users
        return ""
