"""Trials of one graph in one training, each with its own record."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.execution.reproduce import reproduce
from graphtrial.execution.vectorized import Vectorized
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, run_trial

SMALL = {"stopping.max_epochs": 3}


@pytest.fixture
def study() -> Study:
    rows = (ModelEntry("mlp-direct", {"width": 6, "dropout": 0.3}),)
    return Study("t", "wikics-standin-stopping", rows, "wikics/nodes", seeds=2, splits=2, rules=SMALL)


@pytest.mark.slow
def test_vectorized_trials_have_the_records_of_single_trials(study: Study, tmp_path: Path) -> None:
    store, received = Store(tmp_path / "store.sqlite"), []
    trials = study.trials()
    Vectorized(batch_size=3).run(trials, store, lambda progress: received.append((progress.trial.id, progress.event)))
    records = {record.id: record for record in store.trials()}
    assert records.keys() == {trial.id for trial in trials}
    assert [event for _, event in received].count("end") == 4
    assert [record.environment["batched_trials"] for record in records.values()] == [2, 2, 2, 2]
    for trial in trials[:2]:
        alone = run_trial(trial, tmp_path / trial.id)
        record = records[trial.id]
        assert (record.status, record.epochs, record.params) == ("done", 3, alone.params)
        assert record.scores == pytest.approx(alone.scores, abs=0.2)
        assert store.weights_file(trial.id).exists()
        history = store.history(trial.id)
        assert [e.val_loss for e in history] == pytest.approx([e.val_loss for e in alone.epochs], rel=1e-4)


@pytest.mark.slow
def test_reproduction_of_vectorized_trial_explains_rounding(tmp_path: Path) -> None:
    rows = (ModelEntry("gcn-direct", {"width": 6, "dropout": 0.3}),)
    study = Study("t", "wikics-standin-stopping", rows, "wikics/nodes", seeds=1, splits=3, rules=SMALL)
    store = Store(tmp_path / "store.sqlite")
    Vectorized().run(study.trials(), store, lambda progress: None)
    actual = reproduce(store.trials()[:1], store, tmp_path / "again")[0]
    assert actual.holds
    assert actual.changed["batched_trials"] == (3, None)


def test_finished_trials_are_skipped(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    trials = study.trials()
    Vectorized().run(trials[:1], store, lambda progress: None)
    Vectorized().run(trials, store, lambda progress: None)
    assert {record.starts for record in store.trials()} == {1}
    assert {record.status for record in store.trials()} == {"done"}


def test_failure_is_recorded(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise ValueError("nothing works")

    monkeypatch.setattr("graphtrial.training.vectorized.train_vectorized", fail)
    store = Store(tmp_path / "store.sqlite")
    Vectorized().run(study.trials()[:2], store, lambda progress: None)
    assert {record.status for record in store.trials()} == {"failed"}
    assert "nothing works" in str(store.trials()[0].error)


@pytest.mark.slow
def test_only_supported_node_classification_is_vectorized(study: Study) -> None:
    def first(dataset: str, row: ModelEntry, protocol: str) -> bool:
        trial = Study("t", dataset, (row,), protocol, seeds=1, splits=1).trials()[0]
        return trial.kind.can_vectorize(trial)

    assert study.trials()[0].kind.can_vectorize(study.trials()[0])
    assert not first("wikics-standin", ModelEntry("gcn", {"width": 8}), "bgnn-v5/wikics")
    assert not first("wikics-standin", ModelEntry("svm"), "wikics/svm")
    assert not first("csl", ModelEntry("gcn-direct", {"width": 8}, ("laplacian:4",)), "bgnn-v5/csl")
    with pytest.raises(GraphTrialError, match="integer from 1"):
        Vectorized(batch_size=0)
