"""The store: is the file sound, is every result whole, and is a study complete in it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from graphtrial.doctor.caches import leftovers, look_at_folder
from graphtrial.doctor.finding import Finding, some
from graphtrial.errors import GraphTrialError

AREA = "store"


def look_at_store(path: Path) -> Iterator[Finding]:
    """Look at the file without changing it: integrity, schema, each trial beside its identity, history and weights."""
    yield from look_at_folder(AREA, path.parent)
    if not path.exists():
        yield Finding(AREA, "file", "ok", f"{path} is not there yet: nothing was tried so far")
        return
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=60)
        try:
            connection.row_factory = sqlite3.Row
            yield from _look(connection, path)
        finally:
            connection.close()
    except sqlite3.Error as error:
        yield Finding(AREA, "file", "wrong", f"{path} cannot be read: {error}", _RESCUE)
    left = leftovers(path.parent)
    if left:
        advice = "left by processes that were killed; they can be deleted"
        yield Finding(AREA, "leftovers", "note", f"{len(left)} temporary files", advice)


def look_at_study(path: Path, name: str) -> Iterator[Finding]:
    """Look whether each trial of a study has exactly one result in the store."""
    from graphtrial.studies import Store, load_study

    planned = [trial.id for trial in load_study(name).trials()]
    twice = [trial for trial, count in Counter(planned).items() if count > 1]
    records = {record.id: record for record in Store(path).trials(planned)} if path.exists() else {}
    missing = [trial for trial in dict.fromkeys(planned) if trial not in records]
    unfinished = [record.id for record in records.values() if not record.is_finished]
    done = len(records) - len(unfinished)
    says = f"{done} of {len(set(planned))} trials have a result, {len(unfinished)} were begun, {len(missing)} not"
    complete = not missing and not unfinished
    advice = "" if complete else f"graphtrial study {name}"
    yield Finding("study", name, "ok" if complete else "note", says, advice)
    if twice:
        yield Finding("study", "plan", "note", f"{len(twice)} trials are planned twice and run once: {some(twice)}")


_RESCUE = (
    "copy the file and those beside it that begin with its name, then rescue what is left: "
    "sqlite3 STORE .recover | sqlite3 rescued.sqlite"
)


def _look(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    from graphtrial.studies.store import SCHEMA_VERSION

    verdict = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    sound = verdict == ["ok"]
    says = f"{path} is sound" if sound else f"{path} is damaged: {some(verdict)}"
    yield Finding(AREA, "file", "ok" if sound else "wrong", says, "" if sound else _RESCUE)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"about", "trials", "epochs"} <= tables:
        yield Finding(AREA, "schema", "wrong", "it is no GraphTrial store", "choose another with --store")
        return
    schema = int(connection.execute("SELECT value FROM about WHERE key = 'schema'").fetchone()[0])
    if schema > SCHEMA_VERSION:
        says = f"schema {schema}, of which this version knows nothing"
        yield Finding(AREA, "schema", "wrong", says, "update graphtrial")
        return
    older = f"schema {schema}; it is brought to {SCHEMA_VERSION} when next used"
    yield Finding(AREA, "schema", "ok", f"schema {schema}" if schema == SCHEMA_VERSION else older)
    yield from _trials(connection, path)


def _trials(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    from graphtrial.studies.store import FINISHED

    rows = connection.execute("SELECT * FROM trials").fetchall()
    counts = dict(connection.execute("SELECT trial, count(*) FROM epochs GROUP BY trial").fetchall())
    statuses = Counter(row["status"] for row in rows)
    says = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())) or "none yet"
    failed = statuses["failed"]
    advice = "`graphtrial status` lists them, `graphtrial show ID` tells why" if failed else ""
    yield Finding(AREA, "trials", "note" if failed else "ok", says, advice)
    changed = [row["id"] for row in rows if not _is_itself(row)]
    short = [
        row["id"] for row in rows if row["status"] in FINISHED and (row["epochs"] or 0) != counts.get(row["id"], 0)
    ]
    strays = sorted(set(counts) - {row["id"] for row in rows})
    for what, ids, wrong in (
        ("identity", changed, "have a specification that is not the one of their id"),
        ("history", short, "have another number of epochs than their result says"),
        ("epochs", strays, "have epochs, but were never started"),
    ):
        if ids:
            advice = "something else than graphtrial wrote to the store; do not trust these trials"
            yield Finding(AREA, what, "wrong", f"{len(ids)} trials {wrong}: {some(ids)}", advice)
        else:
            yield Finding(AREA, what, "ok", f"{len(rows)} trials agree")
    yield from _folders(rows, path.parent / "trials")


def _folders(rows: list[sqlite3.Row], folder: Path) -> Iterator[Finding]:
    from graphtrial.studies.store import FINISHED

    trained = {row["id"] for row in rows if row["status"] in ("done", "time") and row["epochs"]}
    lost = sorted(trial for trial in trained if not (folder / trial / "weights.safetensors").is_file())
    if lost:
        says = f"the weights of {len(lost)} trials are gone: {some(lost)}"
        yield Finding(
            AREA, "weights", "note", says, "their scores are kept; another store and the same study give them"
        )
    finished = {row["id"] for row in rows if row["status"] in FINISHED}
    states = [path for path in folder.glob("*/*checkpoint.safetensors") if path.parent.name in finished]
    if states:
        advice = "left by a process that was killed right after its result; they can be deleted"
        yield Finding(AREA, "checkpoints", "note", f"{len(states)} of trials that are finished", advice)


def _is_itself(row: sqlite3.Row) -> bool:
    from graphtrial.studies.trial import TrialSpec

    try:
        values: Any = json.loads(row["spec"])
        return TrialSpec.from_dict(values).id == row["id"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, GraphTrialError):
        return False
