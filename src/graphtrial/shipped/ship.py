"""Export the finished trials of a store without names of machines, users and folders."""

from __future__ import annotations

import getpass
import lzma
import platform
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import atomic_path
from graphtrial.core.temporary import temporary_folder
from graphtrial.trials.environment import BATCHED_TRIALS, DEVICE_FIELDS, NUMERICS_KEY
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.store.searches import load_searches, save_search

ENVIRONMENT = (
    *("python", "system", "machine", "cpu", "cores", "threads", "packages", "code"),
    *(NUMERICS_KEY, BATCHED_TRIALS, "source", *DEVICE_FIELDS),
)
"""Fields of the environment that are exported."""
PATH = re.compile(r"(?:^|[\s\"'=(\[:])(?:/(?:home|root|Users|tmp|var|mnt|work|data|opt|usr|private)/|~/|[A-Za-z]:\\)")
DAY = 86_400.0


@dataclass(frozen=True)
class Shipped:
    """Path, number of trials, epochs and searches, of unfinished trials left out, and size in bytes of an export."""

    path: Path
    trials: int
    epochs: int
    searches: int
    left: int
    size: int


def ship(store: Store, target: Path) -> Shipped:
    """Export a store to `target`, compressed if its name ends in .xz.

    Unfinished trials, tracebacks and weights are left out, the paused ones of a search too, of which only the cost is
    kept; so are searches whose tests are not finished. Times are truncated to the day. A text with the name of this
    machine or of its user, or with a path, is an error that names its column.
    """
    if target.is_dir():
        raise GraphTrialError(f"{target} is a folder; --out names the file to write, such as results.sqlite.xz")
    records = store.trials()
    finished = sorted((_cleaned(record) for record in records if record.is_finished), key=lambda record: record.id)
    if not finished:
        raise GraphTrialError(f"the store {store.path} has no finished trial to ship")
    with temporary_folder() as folder:
        copy = Store(Path(folder) / "copy.sqlite")
        copy.take((record, store.history(record.id)) for record in finished)
        ids = {record.id for record in finished}
        searches = [search for search in load_searches(store) if ids.issuperset(search.tests)]
        for search in searches:
            save_search(copy, search)
        with closing(sqlite3.connect(copy.path)) as connection:
            _check(connection)
            connection.execute("VACUUM")
        content = copy.path.read_bytes()
    if target.suffix == ".xz":
        content = lzma.compress(content, check=lzma.CHECK_SHA256, preset=9 | lzma.PRESET_EXTREME)
    try:
        with atomic_path(target) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise GraphTrialError(f"{target} cannot be written: {error.strerror or error}") from error
    epochs = sum(record.epochs or 0 for record in finished)
    return Shipped(target, len(finished), epochs, len(searches), len(records) - len(finished), len(content))


def _cleaned(record: TrialRecord) -> TrialRecord:
    """Return a trial without private fields."""
    return replace(
        record,
        started=_day(record.started),
        finished=_day(record.finished or 0.0),
        error=None,
        environment={key: value for key, value in record.environment.items() if key in ENVIRONMENT},
        weights=None,
    )


def _day(moment: float) -> float:
    return moment // DAY * DAY


def _check(connection: sqlite3.Connection) -> None:
    private = [name for name in (platform.node(), _user(), str(Path.home())) if len(name) > 2 and name != "root"]
    for where, text in _texts(connection):
        for name in private:
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
                raise GraphTrialError(
                    f"{where} contains '{name}', the name of this machine or its user; nothing was exported"
                )
        if PATH.search(text):
            raise GraphTrialError(f"{where} contains a path of this machine; nothing was exported: {text[:200]}")


def _texts(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield every text of every table with its position."""
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
    except (OSError, KeyError):  # no entry for this user
        return ""
