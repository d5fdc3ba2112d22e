"""Malicious and corrupt stores, each as a function that modifies an intact one."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.helpers.stores import change, forge

Hostile = Callable[[Path], None]
OUTSIDE = "../../victim"


def _column(name: str, value: object) -> Hostile:
    return lambda path: forge(path, (f"UPDATE trials SET {name} = ?", (value,)))


def _epoch(name: str, value: object) -> Hostile:
    return lambda path: forge(path, (f"UPDATE epochs SET {name} = ? WHERE epoch = 1", (value,)))


def _spec(change_values: Callable[[dict[str, object]], object]) -> Hostile:
    """Change the specification of each trial, and everything that follows from it where that is possible."""
    from graphtrial.core.spec import digest

    def forged(path: Path) -> None:
        used: set[str] = set()
        with closing(sqlite3.connect(path)) as connection, connection:
            for trial, text in connection.execute("SELECT id, spec FROM trials").fetchall():
                values = json.loads(text)
                change_values(values)
                try:
                    new = digest(values)[:16]
                except ValueError:  # NaN has no canonical form
                    new = trial
                new = trial if new in used else new  # without their models, trials are the same
                used.add(new)
                connection.execute("UPDATE trials SET id = ?, spec = ? WHERE id = ?", (new, json.dumps(values), trial))
                if isinstance(values.get("model"), dict) and isinstance(values.get("dataset"), str):
                    names = values["dataset"], values["model"].get("name"), new
                    connection.execute("UPDATE trials SET dataset = ?, model = ? WHERE id = ?", names)
                connection.execute("UPDATE epochs SET trial = ? WHERE trial = ?", (new, trial))
        forge(path)

    return forged


def _identifier(value: object) -> Hostile:
    def forged(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            ((trial,), *others) = connection.execute("SELECT id FROM trials").fetchall()
        for (other,) in others:
            change(
                path, ("DELETE FROM trials WHERE id = ?", (other,)), ("DELETE FROM epochs WHERE trial = ?", (other,))
            )
        forge(
            path,
            ("UPDATE trials SET id = ? WHERE id = ?", (value, trial)),
            ("UPDATE epochs SET trial = ? WHERE trial = ?", (value, trial)),
        )

    return forged


def _statements(*statements: str) -> Hostile:
    return lambda path: change(path, *statements)


def _content(content: bytes) -> Hostile:
    return lambda path: path.write_bytes(content) and None


def _instead(make: Callable[[Path], object]) -> Hostile:
    def write(path: Path) -> None:
        path.unlink()
        make(path)

    return write


def _declared(name: str, old: str, new: str) -> Hostile:
    """Change what a table is declared as, without SQLite's help."""
    return _statements(
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'",
    )


_VIEW = "ALTER TABLE trials RENAME TO kept"
_FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

REFUSED: dict[str, Hostile] = {
    "a view for a table": _statements(_VIEW, "CREATE VIEW trials AS SELECT * FROM kept"),
    "a view without end": _statements(_VIEW, f"CREATE VIEW trials AS {_FOREVER} SELECT kept.* FROM n, kept"),
    "a view of itself": _statements(_VIEW, "CREATE VIEW trials AS SELECT * FROM trials"),
    "a trigger": _statements("CREATE TRIGGER t AFTER INSERT ON epochs BEGIN DELETE FROM trials; END"),
    "a column more": _statements("ALTER TABLE trials ADD COLUMN more TEXT"),
    "a generated column": _statements("ALTER TABLE trials ADD COLUMN more TEXT AS (id)"),
    "a table more": _statements("CREATE TABLE more (a)"),
    "an index more": _statements("CREATE INDEX more ON trials (test)"),
    "a table declared otherwise": _declared("trials", "test REAL", "test TEXT"),
    "a virtual table": _statements("CREATE VIRTUAL TABLE more USING fts5(a)"),
    "another schema": _statements("UPDATE about SET value = '2' WHERE key = 'schema'"),
    "a schema of a thousand digits": _statements(f"UPDATE about SET value = '{'9' * 1000}' WHERE key = 'schema'"),
    "no schema": _statements("DELETE FROM about"),
    "an id that leaves the folder": _identifier(OUTSIDE),
    "an id that is absolute": _identifier("/tmp/victim"),
    "an id in capitals": _identifier("ABCDEF0123456789"),
    "an id of another trial": _identifier("0123456789abcdef"),
    "an id of bytes": _identifier(b"0123456789abcdef"),
    "an empty id": _identifier(""),
    "data that leave the folder": _spec(lambda spec: spec.update(data="/../../victim")),
    "data that are a number": _spec(lambda spec: spec.update(data=7)),
    "a seed below 0": _spec(lambda spec: spec.update(seed=-1)),
    "a split that is no number": _spec(lambda spec: spec.update(split="x")),
    "rules that nobody knows": _spec(lambda spec: spec.update(rules={"kind": None, "evil": 1})),
    "rules of wrong types": _spec(lambda spec: spec["rules"]["optimizer"].update(lr=[])),  # type: ignore[index]
    "rules that are a list": _spec(lambda spec: spec.update(rules=[1])),
    "a rule that is no number": _spec(
        lambda spec: spec["rules"]["optimizer"].update(lr=float("nan"))  # type: ignore[index]
    ),
    "a field that nobody knows": _spec(lambda spec: spec.update(evil=1)),
    "no model": _spec(lambda spec: spec.pop("model")),
    "a model that is a list": _spec(lambda spec: spec.update(model=["gcn"])),
    "a name with a line break": _spec(lambda spec: spec.update(dataset="a\nb")),
    "a name of a megabyte": _spec(lambda spec: spec.update(dataset="x" * 300_000)),
    "plug-ins without hashes": _spec(lambda spec: spec.update(plugins={"a.py": "../x"})),
    "a specification that is no JSON": _column("spec", "{"),
    "a specification that is deep": _column("spec", '{"a":' * 5000 + "1" + "}" * 5000),
    "a specification of bytes": _column("spec", b"{}"),
    "an environment that is deep": _column("environment", '{"a":' + "[" * 500 + "]" * 500 + "}"),
    "an environment that is a list": _column("environment", "[]"),
    "details with a number without end": _column("details", '{"a":1e999}'),
    "details of ten megabytes": _column("details", "x" * 10_000_000),
    "a score without end": _column("test", float("inf")),
    "a score that is a text": _column("test", "best"),
    "a score of bytes": _column("val", b"\x00\xff"),
    "a count below 0": _column("params", -1),
    "epochs below 0": _column("epochs", -3),
    "seconds below 0": _column("epoch_seconds", -0.5),
    "a time that is a text": _column("started", "yesterday"),
    "a direction that is none": _column("higher_is_better", 7),
    "a metric of control characters": _column("metric", "\x1b[31m"),
    "a state that is none": _column("status", "perfect"),
    "weights that are a path": _column("weights", OUTSIDE),
    "an error of bytes": _column("error", b"\xff\xfe"),
    "another dataset than the specification says": _column("dataset", "zinc"),
    "text that is no text": _statements("UPDATE trials SET environment = CAST(x'ff7b7d' AS TEXT)"),
    "a changed score": _statements("UPDATE trials SET val = val + 8"),
    "no database": _content(b"no database, but long enough to be taken for one " * 100),
    "an empty file": _content(b""),
    "half a page": _content(b"SQLite format 3\x00" + b"\x10\x00\x01\x01\x00@  " + b"\x00" * 300),
    "a folder": _instead(lambda path: path.mkdir()),
    "a pipe": _instead(lambda path: os.mkfifo(path)),
    "a link to itself": _instead(lambda path: path.symlink_to(path)),
    "a link to a device": _instead(lambda path: path.symlink_to("/dev/zero")),
}
"""No command takes these for a store."""

PARTLY: dict[str, Hostile] = {
    "a lost trial": _statements("DELETE FROM trials WHERE id = (SELECT min(id) FROM trials)"),
    "a loss that is a text": _epoch("val_loss", "low"),
    "a loss without end": _epoch("val_loss", float("inf")),
    "a rate below 0": _epoch("lr", -1.0),
    "an epoch of bytes": _epoch("train_loss", b"\x00"),
    "a changed loss": _statements("UPDATE epochs SET val_loss = val_loss + 0.5 WHERE epoch = 1"),
    "lost epochs": _statements("DELETE FROM epochs WHERE epoch = 1"),
}
"""Commands that read what is damaged refuse these; others need not notice."""

HARMLESS: dict[str, Hostile] = {
    "a write-ahead log": _statements("PRAGMA journal_mode = WAL"),
    "epochs of nobody": _statements(f"INSERT INTO epochs VALUES ('{OUTSIDE}', 1, 0.1, 1, 1, 1, 1)"),
    "a name that is a path": _spec(lambda spec: spec.update(dataset="../../victim")),
    "a model that is code": _spec(lambda spec: spec.update(model={"name": "os:abort", "arguments": spec["model"]})),
}
"""Unused data: commands may succeed, without side effects."""
