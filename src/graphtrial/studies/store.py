"""The SQLite file that knows every trial that was ever started."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphtrial.errors import GraphTrialError
from graphtrial.files import make_folder
from graphtrial.spec import canonical_json
from graphtrial.studies.trial import TrialSpec
from graphtrial.training.outcome import Epoch, Outcome

SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
    id TEXT PRIMARY KEY,
    spec TEXT NOT NULL,
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    metric TEXT NOT NULL,
    higher_is_better INTEGER NOT NULL,
    status TEXT NOT NULL,
    starts INTEGER NOT NULL,
    started REAL NOT NULL,
    finished REAL,
    params INTEGER,
    epochs INTEGER,
    epoch_seconds REAL,
    train REAL,
    val REAL,
    test REAL,
    error TEXT,
    environment TEXT NOT NULL,
    details TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
CREATE TABLE epochs (
    trial TEXT NOT NULL REFERENCES trials (id),
    epoch INTEGER NOT NULL,
    lr REAL NOT NULL,
    train_loss REAL NOT NULL,
    val_loss REAL NOT NULL,
    val_score REAL NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (trial, epoch)
) WITHOUT ROWID;
"""
MIGRATIONS = {1: "ALTER TABLE trials ADD COLUMN details TEXT NOT NULL DEFAULT '{}'"}
"""What brings a store from each earlier schema to the next one."""
FINISHED = ("done", "time", "diverged", "oom")


@dataclass(frozen=True)
class TrialRecord:
    """What the store knows of one trial. `status` is running, interrupted, failed, or how the training ended."""

    id: str
    spec: TrialSpec
    metric: str
    higher_is_better: bool
    status: str
    starts: int
    started: float
    finished: float | None
    params: int | None
    epochs: int | None
    epoch_seconds: float | None
    scores: dict[str, float]
    error: str | None
    environment: dict[str, Any]
    details: dict[str, Any]

    @property
    def is_finished(self) -> bool:
        """The trial has a result and is never run again."""
        return self.status in FINISHED


class Store:
    """Trials, epochs and results in one SQLite file; any number of processes may read and write at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        make_folder(path.parent)
        with self.connection() as connection:
            _prepare(connection, path)

    @property
    def trials_folder(self) -> Path:
        """The folder beside the file that holds checkpoints and weights."""
        return self.path.parent / "trials"

    def weights_file(self, trial: str) -> Path:
        """Where the weights of a finished trial are kept; a trial without any has no such file."""
        return self.trials_folder / trial / "weights.safetensors"

    def start(self, spec: TrialSpec, metric: str, higher_is_better: bool, environment: dict[str, Any]) -> None:
        """Note that a trial starts, or starts again; its scores will be in this metric."""
        with self.connection() as connection:
            connection.execute(
                "INSERT INTO trials (id, spec, dataset, model, metric, higher_is_better, "
                "status, starts, started, environment) VALUES (?, ?, ?, ?, ?, ?, 'running', 1, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET status = 'running', starts = starts + 1, error = NULL, "
                "metric = excluded.metric, higher_is_better = excluded.higher_is_better, "
                "environment = excluded.environment",
                (
                    spec.id,
                    canonical_json(spec),
                    spec.dataset,
                    spec.model.name,
                    metric,
                    higher_is_better,
                    time.time(),
                    canonical_json(environment),
                ),
            )

    def add_epochs(self, trial: str, epochs: Iterable[Epoch]) -> None:
        """Note finished epochs; one that is noted twice is replaced."""
        self.add_epochs_of({trial: epochs})

    def add_epochs_of(self, trials: Mapping[str, Iterable[Epoch]]) -> None:
        """Note finished epochs of several trials in one step."""
        if not trials:
            return
        with self.connection() as connection:
            for trial, epochs in trials.items():
                _insert_epochs(connection, trial, epochs)

    def finish(self, trial: str, outcome: Outcome) -> None:
        """Note the end of a trial together with its whole history, in one step."""
        scores = outcome.scores
        with self.connection() as connection:
            connection.execute("DELETE FROM epochs WHERE trial = ?", (trial,))
            _insert_epochs(connection, trial, outcome.epochs)
            connection.execute(
                "UPDATE trials SET status = ?, finished = ?, params = ?, epochs = ?, epoch_seconds = ?, "
                "train = ?, val = ?, test = ?, details = ?, error = NULL WHERE id = ?",
                (
                    outcome.status,
                    time.time(),
                    outcome.params,
                    len(outcome.epochs),
                    outcome.epoch_seconds,
                    scores.get("train"),
                    scores.get("val"),
                    scores.get("test"),
                    canonical_json(outcome.details),
                    trial,
                ),
            )

    def mark(self, trial: str, status: str, error: str | None = None) -> None:
        """Note that an unfinished trial failed or was interrupted."""
        with self.connection() as connection:
            connection.execute(
                f"UPDATE trials SET status = ?, error = ? WHERE id = ? AND status NOT IN ({_marks(FINISHED)})",
                (status, error, trial, *FINISHED),
            )

    def trials(self, ids: Iterable[str] | None = None) -> list[TrialRecord]:
        """Return the trials with these ids, or all, oldest first."""
        if ids is None:
            return self._select("")
        return self._select("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(list(ids)))

    def find(self, prefix: str) -> TrialRecord:
        """Return the trial whose id begins so."""
        matches = self._select("WHERE substr(id, 1, length(?1)) = ?1", prefix)
        if len(matches) != 1:
            found = f"{len(matches)} trials begin" if matches else "no trial begins"
            raise GraphTrialError(f"{found} with '{prefix}' in {self.path}; `graphtrial status` lists them")
        return matches[0]

    def history(self, trial: str) -> list[Epoch]:
        """Return the epochs of a trial."""
        with self.connection() as connection:
            rows = connection.execute("SELECT * FROM epochs WHERE trial = ? ORDER BY epoch", (trial,)).fetchall()
        return [Epoch(**{key: row[key] for key in row.keys() if key != "trial"}) for row in rows]  # noqa: SIM118

    def _select(self, condition: str, *values: str) -> list[TrialRecord]:
        with self.connection() as connection:
            rows = connection.execute(f"SELECT * FROM trials {condition} ORDER BY started, id", values).fetchall()
        return [_record(row) for row in rows]

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one step, which is done as a whole or not at all."""
        # One short connection per step: nothing is shared between processes, and a killed one leaves nothing locked.
        try:
            connection = sqlite3.connect(self.path, timeout=60)
        except sqlite3.Error as error:
            raise GraphTrialError(f"cannot open the store {self.path}: {error}") from error
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                yield connection
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise GraphTrialError(f"the store {self.path} cannot be used: {error}") from error
        finally:
            connection.close()


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")  # of several processes that start at once, one makes the tables
    tables = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        for statement in filter(str.strip, SCHEMA.split(";")):
            connection.execute(statement)
        connection.execute("INSERT INTO about VALUES ('schema', ?)", (str(SCHEMA_VERSION),))
        return
    if "about" not in tables:
        raise GraphTrialError(f"{path} is an SQLite file, but not a GraphTrial store; choose another with --store")
    found = _schema(connection, path)
    while found in MIGRATIONS:
        connection.execute(MIGRATIONS[found])
        found += 1
        connection.execute("UPDATE about SET value = ? WHERE key = 'schema'", (str(found),))
    if found != SCHEMA_VERSION:
        raise GraphTrialError(
            f"{path} has schema {found}; this version reads schema {SCHEMA_VERSION}. Update graphtrial."
        )


def _schema(connection: sqlite3.Connection, path: Path) -> int:
    row = connection.execute("SELECT value FROM about WHERE key = 'schema'").fetchone()
    try:
        return int(row["value"])
    except (TypeError, ValueError):
        raise GraphTrialError(f"{path} does not say its schema; it is damaged, or not a GraphTrial store") from None


def _insert_epochs(connection: sqlite3.Connection, trial: str, epochs: Iterable[Epoch]) -> None:
    values = ":trial, :epoch, :lr, :train_loss, :val_loss, :val_score, :seconds"
    rows = [{"trial": trial, **asdict(epoch)} for epoch in epochs]
    connection.executemany(f"INSERT OR REPLACE INTO epochs VALUES ({values})", rows)


def _record(row: sqlite3.Row) -> TrialRecord:
    try:
        return _read(row)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise GraphTrialError(
            f"trial {row['id']} in the store cannot be read ({error}); `graphtrial doctor` looks at all of them"
        ) from error


def _read(row: sqlite3.Row) -> TrialRecord:
    same = ("id", "metric", "status", "starts", "started", "finished", "params", "epochs", "epoch_seconds")
    return TrialRecord(
        **{key: row[key] for key in same},
        higher_is_better=bool(row["higher_is_better"]),
        spec=TrialSpec.from_dict(json.loads(row["spec"])),
        scores={name: row[name] for name in ("train", "val", "test") if row[name] is not None},
        error=row["error"],
        environment=json.loads(row["environment"]),
        details=json.loads(row["details"]),
    )


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))
