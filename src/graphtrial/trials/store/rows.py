"""SQL statements that read, write and seal rows of a store with their digest."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.training.outcome import Epoch
from graphtrial.trials.fields import check_id, is_sha256
from graphtrial.trials.store.digests import replace_in_sum, trial_digest
from graphtrial.trials.store.record import epoch_row, history_of, record_of


def digest_of(connection: sqlite3.Connection, trial: str) -> str | None:
    row = connection.execute("SELECT digest FROM trials WHERE id = ?", (check_id(trial),)).fetchone()
    return row[0] if row else None


def seal(connection: sqlite3.Connection, trial: str, old: str | None) -> None:
    """Write the digest of a trial as stored by SQLite, after validating it."""
    row = dict(connection.execute("SELECT * FROM trials WHERE id = ?", (trial,)).fetchone())
    row["digest"] = trial_digest(row)
    record_of(row)
    history_of(epochs_of(connection, trial), row)
    connection.execute("UPDATE trials SET digest = ? WHERE id = ?", (row["digest"], trial))
    total = replace_in_sum(total_of(connection), old, row["digest"])
    connection.execute("UPDATE about SET value = ? WHERE key = 'trials'", (total,))


def total_of(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT value FROM about WHERE key = 'trials'").fetchone()
    if row is None or not is_sha256(row[0]):
        raise CorruptFileError("the store is damaged: it has no digest of its trials")
    return str(row[0])


def epochs_of(connection: sqlite3.Connection, trial: str) -> list[sqlite3.Row]:
    return connection.execute("SELECT * FROM epochs WHERE trial = ? ORDER BY epoch", (trial,)).fetchall()


def insert_epochs(connection: sqlite3.Connection, trial: str, epochs: Iterable[Epoch]) -> None:
    values = ":trial, :epoch, :lr, :train_loss, :val_loss, :val_score, :seconds"
    rows = [epoch_row(trial, epoch) for epoch in epochs]
    connection.executemany(f"INSERT OR REPLACE INTO epochs VALUES ({values})", rows)


def integrity_errors(connection: sqlite3.Connection) -> list[str]:
    orphans = "SELECT count(*) FROM epochs WHERE trial NOT IN (SELECT id FROM trials)"
    messages = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(9)")]
    (count,) = connection.execute(orphans).fetchone()
    errors = [] if messages == ["ok"] else messages
    return [*errors, f"{count} epochs belong to no trial"] if count else errors


def named(row: Mapping[str, Any]) -> str:
    return ", ".join(f":{name}" for name in row)
