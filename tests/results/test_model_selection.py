"""Selection of one trial per fold by validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graphtrial.results import markdown, result_rows
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Outcome
from graphtrial.trials import Store, TrialRecord


@pytest.fixture
def records(tmp_path: Path) -> list[TrialRecord]:
    """Two folds of a grid of three, the validation scores 60, 70, 70 and 80, 50, 80."""
    row = ModelEntry("gin-eps", {"width": 4}, grid={"layers": (1, 2, 3)})
    trials = Study("t", "csl", (row,), protocol="tudataset/gnn", seeds=1, splits=2).trials()
    store = Store(tmp_path / "store.sqlite")
    val = {(1, 0): 60.0, (2, 0): 70.0, (3, 0): 70.0, (1, 1): 80.0, (2, 1): 50.0, (3, 1): 80.0}
    for spec in reversed(trials):
        layers = spec.settings["layers"]
        store.start(spec, "accuracy", True, {})
        scores = {"train": 90.0, "val": val[layers, spec.split], "test": 10.0 * layers + spec.split}
        store.finish(spec.id, Outcome("done", 100 * layers, [], scores))
    return store.trials()


def test_best_validation_trial_is_selected_first_on_ties(records: list[TrialRecord]) -> None:
    (row,) = result_rows(records)
    result = row.to_dict()
    assert {c["split"]: c["layers"] for c in result["choices"]} == {0: 2, 1: 1}
    assert {c["width"] for c in result["choices"]} == {4}
    assert result["test"]["mean"] == (20.0 + 11.0) / 2
    assert "layers" not in result["settings"]
    assert "width" not in result["settings"]
    assert result["params"] is None
    assert "| GIN-ε | none | 1-2 |  |" in markdown([row])


def test_selection_follows_metric_direction(records: list[TrialRecord]) -> None:
    (row,) = result_rows([replace(record, higher_is_better=False) for record in records])
    assert {c["split"]: c["layers"] for c in row.choices} == {0: 1, 1: 2}


def test_fold_is_incomplete_until_every_candidate_finished(records: list[TrialRecord]) -> None:
    missing = [record for record in records if (record.spec.settings["layers"], record.spec.split) != (2, 1)]
    failed = [replace(record, status="failed", scores={}) if record not in missing else record for record in records]
    for part in (missing, failed):
        (row,) = result_rows(part)
        assert row.statuses == {"done": 1, "incomplete": 1}
        assert row.to_dict()["test"]["n"] == 1
        assert len(row.choices) == 1


def test_diverged_trial_is_never_selected(records: list[TrialRecord]) -> None:
    lost = [replace(r, status="diverged", scores={}) if r.spec.settings["layers"] == 1 else r for r in records]
    (row,) = result_rows(lost)
    assert {c["split"]: c["layers"] for c in row.choices} == {0: 2, 1: 3}


def test_jumping_knowledge_is_a_separate_row(records: list[TrialRecord]) -> None:
    def jumping(record: TrialRecord) -> TrialRecord:
        model = replace(record.spec.model, arguments={**record.spec.settings, "jumping": True})
        return replace(record, id=record.id[::-1], spec=replace(record.spec, model=model))

    rows = result_rows([*records, *map(jumping, records)])
    assert [row.label for row in rows] == ["gin-eps", "gin-eps-JK"]
