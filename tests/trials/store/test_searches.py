"""Searches in a store: written, read, merged, and validated."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.spec import canonical_json, digest
from graphtrial.trials.store import Store
from graphtrial.trials.store.merge import merge
from graphtrial.trials.store.searches import SearchRecord, load_searches, save_search

DECLARATION = {"search": "random", "budget": "2trials"}
RECORD = SearchRecord(
    id=digest(DECLARATION)[:16],
    declaration=DECLARATION,
    configurations=(("0" * 16,), ("1" * 16,)),
    epochs=(3, 4),
    core_seconds=(1.5, 2.5),
    winner=1,
    tests=(),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store.sqlite")


def test_a_search_is_read_as_it_was_written(store: Store) -> None:
    assert load_searches(store) == []
    save_search(store, RECORD)
    save_search(store, RECORD)
    assert load_searches(store) == [RECORD]
    assert store.trials() == []  # no part of the trials and their digest
    with pytest.raises(GraphTrialError, match="read-only"):
        save_search(Store(store.path, read_only=True), RECORD)


def test_searches_are_merged_with_the_trials_that_test_them(store: Store, tmp_path: Path) -> None:
    save_search(store, RECORD)
    other = Store(tmp_path / "other" / "store.sqlite")
    merge(other, store.path)
    assert load_searches(other) == [RECORD]


@pytest.mark.parametrize(
    "changes",
    [
        {"winner": 2},
        {"winner": -1},
        {"winner": True},
        {"epochs": [3]},
        {"epochs": [3, -1]},
        {"core_seconds": [1.5, "a"]},
        {"tests": ["../../x"]},
        {"configurations": "abc"},
        {"declaration": {"budget": "9trials"}},
        {"id": "f" * 16},
        {"more": 1},
    ],
)
def test_a_changed_search_is_an_error(store: Store, changes: dict[str, Any]) -> None:
    save_search(store, RECORD)
    values = {**asdict(RECORD), **changes}
    for text in (canonical_json({**values, "digest": digest(values)}), json.dumps({**values, "digest": "0" * 64})):
        with sqlite3.connect(store.path) as connection:
            connection.execute("UPDATE about SET value = ? WHERE key LIKE 'search %'", (text,))
        connection.close()
        with pytest.raises(CorruptFileError, match="cannot be read"):
            load_searches(store)


def test_text_that_is_no_json_is_an_error(store: Store) -> None:
    save_search(store, RECORD)
    for text in ("[]", "{", "NaN"):
        with sqlite3.connect(store.path) as connection:
            connection.execute("UPDATE about SET value = ? WHERE key LIKE 'search %'", (text,))
        connection.close()
        with pytest.raises(CorruptFileError):
            load_searches(store)
