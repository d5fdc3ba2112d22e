"""Hyperparameter searches in a store: their declaration, and the ids of the trials they consist of.

Everything else follows from the trials. A search is a row of the table `about`, whose key starts with `search`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.spec import canonical_json, digest
from graphtrial.trials.fields import Check, check_fields, is_amount, is_count, is_id, is_plain, is_sha256, read_object
from graphtrial.trials.store.database import reading, writing
from graphtrial.trials.store.store import Store

PREFIX = "search "
FOLD = "fold"
"""Key of a declaration: the outer fold of a search."""


@dataclass(frozen=True)
class SearchRecord:
    """A finished search.

    `id` is the hash of the declaration, `configurations` are the ids of the trials of each proposal, `epochs` and
    `core_seconds` what the search spent on each, `winner` is the number of the chosen one, and `tests` are the ids of
    the trials that test it.
    """

    id: str
    declaration: dict[str, Any]
    configurations: tuple[tuple[str, ...], ...]
    epochs: tuple[int, ...]
    core_seconds: tuple[float, ...]
    winner: int
    tests: tuple[str, ...]


def _all(check: Check) -> Check:
    return lambda value: isinstance(value, list | tuple) and all(check(each) for each in value)


FIELDS: dict[str, Check] = {
    "id": is_id,
    "declaration": lambda value: isinstance(value, dict) and is_plain(value),
    "configurations": _all(_all(is_id)),
    "epochs": _all(is_count),
    "core_seconds": _all(is_amount),
    "winner": is_count,
    "tests": _all(is_id),
    "digest": is_sha256,
}


def save_search(store: Store, record: SearchRecord) -> None:
    """Write a search, or replace it."""
    if store.read_only:
        raise GraphTrialError(f"the store {store.path} was opened read-only")
    values = asdict(record)
    text = canonical_json({**values, "digest": digest(values)})
    with writing(store.path) as connection:
        connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (PREFIX + record.id, text))


def load_searches(store: Store) -> list[SearchRecord]:
    """Return all searches of a store after validating them; a changed one is an error."""
    with reading(store.path) as connection:
        rows = connection.execute(
            "SELECT key, value FROM about WHERE substr(key, 1, ?) = ? ORDER BY key", (len(PREFIX), PREFIX)
        ).fetchall()
    return [_record(str(row["key"]), row["value"]) for row in rows]


def _record(key: str, text: Any) -> SearchRecord:
    try:
        values = read_object(text)
        check_fields(values, FIELDS, "it", set(FIELDS))
        if values.pop("digest") != digest(values) or key != PREFIX + digest(values["declaration"])[:16]:
            raise GraphTrialError("it was changed after it was written")
        lengths = {len(values[name]) for name in ("configurations", "epochs", "core_seconds")}
        if key != PREFIX + values["id"] or len(lengths) > 1 or values["winner"] >= max(lengths):
            raise GraphTrialError("it is not consistent")
    except (GraphTrialError, ValueError, TypeError) as error:
        raise CorruptFileError(f"the {key[:40]} in the store cannot be read ({error})") from error
    return SearchRecord(
        values["id"],
        values["declaration"],
        tuple(tuple(each) for each in values["configurations"]),
        tuple(values["epochs"]),
        tuple(values["core_seconds"]),
        values["winner"],
        tuple(values["tests"]),
    )
