"""A trial records from which source its data were made."""

from __future__ import annotations

from pathlib import Path

from graphtrial.execution.worker import run_and_record
from graphtrial.results import result_rows
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store


def test_trial_records_the_source_of_its_data(tmp_path: Path) -> None:
    (trial,) = Study(
        "s", "csl", (ModelEntry("gcn", {"width": 8}),), seeds=1, splits=1, rules={"stopping.max_epochs": 1}
    ).trials()
    store = Store(tmp_path / "store.sqlite")
    run_and_record(trial, store)
    (record,) = store.trials()
    assert record.environment["source"] == "generated"
    assert [departure.badge for departure in result_rows([record])[0].departures] == ["changed rules"]
