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
from graphtrial.trials.environment import NUMERICS


@pytest.fixture
def filled(store: Store, study: Study) -> Store:
    """The first trials of the study with their real results."""
    run_trials(study.trials()[:2], store, workers=0)
    return store


@pytest.mark.slow
def test_rerun_is_bit_exact(filled: Store, tmp_path: Path) -> None:
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


def test_version_differences_are_listed_and_scores_compared_within_tolerance(filled: Store) -> None:
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


def test_trial_with_other_numerics_is_compared_within_tolerance(filled: Store) -> None:
    record = filled.trials()[0]
    assert record.environment["numerics"] == NUMERICS
    older = {name: value for name, value in record.environment.items() if name != "numerics"}
    assert changes(older, record.environment) == {"numerics": (1, NUMERICS)}
    assert changes(older, {**older, "numerics": 1}) == {}


@pytest.mark.slow
def test_interrupted_rerun_resumes_and_finished_one_restarts(filled: Store, tmp_path: Path) -> None:
    records = filled.trials()
    again = Store(tmp_path / "again" / "store.sqlite")
    run_trials([records[0].spec], again, workers=0)
    before = again.trials()[0].started
    reproduce(records, filled, tmp_path / "again")
    assert again.trials([records[0].id])[0].started == before
    reproduce(records, filled, tmp_path / "again")
    assert again.trials([records[0].id])[0].started > before


def test_trial_without_a_result_cannot_be_compared(store: Store, study: Study, tmp_path: Path) -> None:
    store.start(study.trials()[0], "accuracy", True, {})
    with pytest.raises(GraphTrialError, match="no result to compare with: its status is running"):
        reproduce(store.trials(), store, tmp_path / "again")


def test_changed_data_give_no_result_with_a_reason(filled: Store, tmp_path: Path) -> None:
    record = filled.trials()[0]
    other = replace(record, id="0" * 16, spec=replace(record.spec, data="1" * 64))
    other = replace(other, id=other.spec.id)
    (result,) = reproduce([other], filled, tmp_path / "again")
    assert (result.verdict, result.holds) == ("no result", False)
    assert "was made for other data" in result.reason


def test_other_device_type_is_compared_within_tolerance(filled: Store) -> None:
    record = filled.trials()[0]
    history = filled.history(record.id)
    old = replace(record, environment={k: v for k, v in record.environment.items() if k != "device"})
    assert compare(old, history, record, history, 0.05).verdict == "same bits"  # stores of before: the CPU
    gpu = replace(record, environment={**record.environment, "device": "cuda", "gpu": "NVIDIA A100"})
    result = compare(record, history, gpu, history, 0.05)
    assert (result.verdict, result.holds) == ("within tolerance", True)
    assert "cpu and cuda (NVIDIA A100) round differently" in result.reason
    assert result.changed["device"] == ("cpu", "cuda")
    assert compare(gpu, history, gpu, history, 0.05).verdict == "same bits"


def test_mixed_device_trial_is_never_bit_exact(filled: Store) -> None:
    record = filled.trials()[0]
    history = filled.history(record.id)
    mixed = replace(record, details={**record.details, "mixed_devices": ["cuda (NVIDIA A100)", "cpu"]})
    assert mixed.device == "mixed: cuda (NVIDIA A100), cpu"
    result = compare(mixed, history, record, history, 0.05)
    assert (result.verdict, result.holds) == ("within tolerance", True)
    assert "mixed" in result.reason
