"""Schema of a store; a file with any other schema is rejected."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from graphtrial.core.errors import GraphTrialError

SCHEMA_VERSION = 3
TABLES = {
    "about": """CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    "trials": """CREATE TABLE trials (
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
    details TEXT NOT NULL,
    weights TEXT,
    history TEXT,
    digest TEXT NOT NULL
) WITHOUT ROWID""",
    "epochs": """CREATE TABLE epochs (
    trial TEXT NOT NULL REFERENCES trials (id),
    epoch INTEGER NOT NULL,
    lr REAL NOT NULL,
    train_loss REAL NOT NULL,
    val_loss REAL NOT NULL,
    val_score REAL NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (trial, epoch)
) WITHOUT ROWID""",
}
"""`weights` and `history` are the SHA-256 of the weights file and of the epochs of a finished trial; `digest` is that
of all other columns. In `about`, `schema` is the version and `trials` the sum of all digests (`digests.py`)."""
_FOREIGN = "is an SQLite file, but not a GraphTrial store; choose another with --store"


def create(connection: sqlite3.Connection) -> None:
    """Create the tables."""
    for statement in TABLES.values():
        connection.execute(statement)
    about = {"schema": str(SCHEMA_VERSION), "trials": "0" * 64}
    connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a file has no tables yet."""
    count: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return count == 0


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Raise an error unless the schema is exactly that of a store: no views, triggers, other columns or tables.

    SQLite stores the text of each declaration, so that equal texts are equal declarations. Only `about` is read before
    all texts are verified.
    """
    declared = [tuple(row) for row in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 9")]
    expected = {("table", name, name, sql) for name, sql in TABLES.items()}
    if ("table", "about", "about", TABLES["about"]) not in declared:
        raise GraphTrialError(f"{path} {_FOREIGN}")
    row = connection.execute("SELECT value FROM about WHERE key = 'schema'").fetchone()
    version = row[0] if row else None
    if not isinstance(version, str) or not version.isascii() or not version.isdigit() or len(version) > 9:
        raise GraphTrialError(f"{path} has no schema version; it is damaged, or not a GraphTrial store")
    if int(version) != SCHEMA_VERSION:
        raise GraphTrialError(
            f"{path} has schema {int(version)}; this version of graphtrial reads only schema {SCHEMA_VERSION}. "
            "Use the version that wrote it, or choose another store with --store"
        )
    if set(declared) != expected or len(declared) != len(expected):
        other = next((str(name) for _, name, _, _ in declared if name not in TABLES), None)
        subject = f"it also has '{other[:60]}'" if other else "a table is declared in another way"
        raise GraphTrialError(f"{path} is not a GraphTrial store as this version writes it: {subject}")
