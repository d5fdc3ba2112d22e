"""Seeds beyond those of a protocol."""

from __future__ import annotations

import hashlib

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.results import result_rows
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.studies import ModelEntry, Study
from graphtrial.training import PROTOCOLS
from graphtrial.training.outcome import Outcome
from graphtrial.trials import Store


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_published_seeds_come_first_without_duplicates(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    there = len(protocol.seeds)
    many = protocol.first_seeds(there + 50)
    assert many[:there] == protocol.seeds
    assert len(set(many)) == there + 50
    assert all(0 <= seed < 2**31 for seed in many)
    assert protocol.first_seeds(1) == protocol.seeds[:1]
    assert protocol.first_seeds(there + 3) == many[: there + 3]


def test_derived_seeds_match_the_documentation() -> None:
    text = b"bgnn-v5/zinc seed 0"
    expected = int.from_bytes(hashlib.sha256(text).digest(), "big") >> (256 - 31)
    assert PROTOCOLS.get("bgnn-v5/zinc").first_seeds(5)[4] == expected


def test_derived_seeds_are_marked_in_rows(tmp_path_factory: pytest.TempPathFactory) -> None:
    study = Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), protocol="bgnn-v5/csl", seeds=22, splits=1)
    trials = study.trials()
    assert len({trial.seed for trial in trials}) == 22
    store = Store(tmp_path_factory.mktemp("seeds") / "store.sqlite")
    for trial in trials:
        store.start(trial, "accuracy", True, {})
        store.finish(trial.id, Outcome("done", 0, [], {"test": 50.0}))
    (row,) = result_rows(store.trials())
    assert row.derived_seeds == tuple(sorted(PROTOCOLS.get("bgnn-v5/csl").first_seeds(22)[20:]))
    assert row.to_dict()["derived_seeds"] == list(row.derived_seeds)
    assert ROW_COLUMNS["statuses"].cell(row) == "22 (2 seeds derived)"


@pytest.mark.parametrize("seeds", [0, 10_001])
def test_number_of_seeds_is_bounded(seeds: int) -> None:
    with pytest.raises(GraphTrialError, match="seeds of the study must be an integer from 1 to 10,000"):
        Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), seeds=seeds).trials()
