"""A stored trial is run again and compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.execution import run_trials
from graphtrial.execution.reproduce import changes, compare, first_difference, reproduce
from graphtrial.studies import Study
from graphtrial.trials import Store


@pytest.fixture
def filled(store: Store, study: Study) -> Store:
    """The first trials of the study with their real results."""
    run_trials(study.trials()[:2], store, workers=0)
    return store


@pytest.mark.slow
def test_a_second_run_gives_the_same_bits(filled: Store, tmp_path: Path) -> None:
    reproductions = reproduce(filled.trials(), filled, tmp_path / "again")
    assert [(one.verdict, one.holds, one.changed) for one in reproductions] == [("same bits", True, {})] * 2
    assert all(one.before == one.after for one in reproductions)
    assert {one.trial for one in reproductions} == {record.id for record in filled.trials()}


def test_irreproducible_result_is_a_failure(filled: Store, tmp_path: Path) -> None:
    record = filled.trials()[0]
    history = filled.history(record.id)
    forged = replace(record, scores={**record.scores, "test": record.scores["test"] + 1})
    result = compare(forged, history, record, history, 0.05)
    assert (result.verdict, result.holds) == ("differs", False)
    assert "the scores differ though code, versions and machine are the same" in result.reason
    bent = [replace(history[0], train_loss=history[0].train_loss * (1 + 1e-15)), *history[1:]]
    assert first_difference(history, bent) in (1, None)
    bent = [history[0], replace(history[1], val_loss=0.0)]
    assert compare(record, bent, record, history, 0.05).reason.startswith("epoch 2 differ")


def test_other_versions_are_named_and_scores_compared_within_the_tolerance(filled: Store) -> None:
    record = filled.trials()[0]
    history = filled.history(record.id)
    scores = {part: score + 1.0 for part, score in {"test": 50.0, "val": 50.0, "train": 50.0}.items()}
    record = replace(record, scores=dict.fromkeys(("train", "val", "test"), 50.0))
    elsewhere = {**record.environment, "packages": {**record.environment["packages"], "torch": "9.9"}}
    there = replace(record, environment=elsewhere, scores=scores)
    near = compare(record, history, there, history, 0.05)
    assert (near.verdict, near.holds) == ("within tolerance", True)
    assert near.changed["torch"][1] == "9.9"
    far = compare(record, history, there, history, 0.01)
    assert (far.verdict, far.holds) == ("differs", False)
    assert "more than 1% in train, val, test" in far.reason or "more than 1%" in far.reason
    assert changes(record.environment, record.environment) == {}


@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on_and_a_finished_one_starts_anew(filled: Store, tmp_path: Path) -> None:
    records = filled.trials()
    again = Store(tmp_path / "again" / "store.sqlite")
    run_trials([records[0].spec], again, workers=0)
    before = again.trials()[0].started
    reproduce(records, filled, tmp_path / "again")
    assert again.trials([records[0].id])[0].started == before
    reproduce(records, filled, tmp_path / "again")
    assert again.trials([records[0].id])[0].started > before


def test_a_trial_without_a_result_cannot_be_compared(store: Store, study: Study, tmp_path: Path) -> None:
    store.start(study.trials()[0], "accuracy", True, {})
    with pytest.raises(GraphTrialError, match="no result to compare with: its status is running"):
        reproduce(store.trials(), store, tmp_path / "again")


def test_data_that_changed_since_is_the_reason_for_no_result(filled: Store, tmp_path: Path) -> None:
    record = filled.trials()[0]
    other = replace(record, id="0" * 16, spec=replace(record.spec, data="1" * 64))
    other = replace(other, id=other.spec.id)
    (result,) = reproduce([other], filled, tmp_path / "again")
    assert (result.verdict, result.holds) == ("no result", False)
    assert "was made for other data" in result.reason
