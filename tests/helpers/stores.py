"""Manipulated stores, with or without matching digests."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from graphtrial.trials.store.digests import history_digest, sum_of, trial_digest
from graphtrial.trials.store.record import history_of
from graphtrial.trials.store.rows import epochs_of


def change(path: Path, *statements: str | tuple[str, Sequence[Any]]) -> None:
    """Execute statements in a store; the digests are not updated."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            text, values = (statement, ()) if isinstance(statement, str) else statement
            connection.execute(text, values)


def forge(path: Path, *statements: str | tuple[str, Sequence[Any]]) -> None:
    """Change a store and recompute all digests, as a forger would."""
    change(path, *statements)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.row_factory = sqlite3.Row
        digests = []
        for row in map(dict, connection.execute("SELECT * FROM trials").fetchall()):
            try:
                row["history"] = row["history"] and history_digest(history_of(epochs_of(connection, row["id"]), None))
                row["digest"] = trial_digest(row)
            except Exception:  # noqa: BLE001 - some forgeries cannot be given a digest
                continue
            digests.append(row["digest"])
            values = (row["history"], row["digest"], row["id"])
            connection.execute("UPDATE trials SET history = ?, digest = ? WHERE id = ?", values)
        connection.execute("UPDATE about SET value = ? WHERE key = 'trials'", (sum_of(digests),))
