"""Trials on machines without access to the store."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from graphtrial.execution import run_trials
from graphtrial.execution.recording import record_result
from graphtrial.execution.remote import RemoteUpdate, run_in_folder, run_remote
from graphtrial.execution.remote_store import checkpoint_of, record_updates, remote_job
from graphtrial.execution.worker import DriverGoneError
from graphtrial.studies import Study
from graphtrial.trials import Store, TrialSpec


def bits(store: Store, spec: TrialSpec) -> object:
    """Return the reproducible fields of a result."""
    (record,) = store.trials([spec.id])
    history = [dataclasses.replace(epoch, seconds=0.0) for epoch in store.history(spec.id)]
    weights = store.weights_file(spec.id).read_bytes()
    return record.status, record.scores, record.params, history, weights


@pytest.fixture
def spec(study: Study) -> TrialSpec:
    return study.trials()[-1]


@pytest.fixture
def calm(spec: TrialSpec, tmp_path: Path) -> object:
    """Result of the same trial, run locally."""
    store = Store(tmp_path / "calm" / "s.sqlite")
    run_trials([spec], store, workers=0)
    return bits(store, spec)


def test_remote_trial_is_bit_exact(spec: TrialSpec, calm: object, store: Store) -> None:
    updates: list[RemoteUpdate] = []
    record_result(spec, store, run_remote(remote_job(spec, store), updates.append))
    assert bits(store, spec) == calm
    assert updates[0].environment is not None
    assert [update.epoch.epoch for update in updates[1:] if update.epoch] == [1, 2]
    assert all(update.state for update in updates[1:])


def test_lost_trial_resumes_from_the_returned_checkpoint(spec: TrialSpec, calm: object, store: Store) -> None:
    def listen_once(update: RemoteUpdate) -> None:
        record_updates([update], {spec.id: spec}, store)
        if update.epoch is not None:
            raise DriverGoneError

    with pytest.raises(DriverGoneError):
        run_remote(remote_job(spec, store), listen_once)
    assert [epoch.epoch for epoch in store.history(spec.id)] == [1]
    updates: list[RemoteUpdate] = []
    record_result(spec, store, run_remote(remote_job(spec, store), updates.append))
    assert [update.epoch.epoch for update in updates if update.epoch] == [2]  # the first was not done again
    assert bits(store, spec) == calm
    assert checkpoint_of(spec.id, store).load() is None


def test_checkpoint_interval_exceeds_epochs(spec: TrialSpec, calm: object, store: Store) -> None:
    updates: list[RemoteUpdate] = []
    record_result(spec, store, run_remote(remote_job(spec, store), updates.append, checkpoint_seconds=3600))
    assert [update.state is not None for update in updates if update.epoch] == [True, False]
    assert bits(store, spec) == calm


def test_checkpoints_on_shared_storage(spec: TrialSpec, calm: object, store: Store, tmp_path: Path) -> None:
    job = remote_job(spec, store)
    for _ in range(2):  # the second finds all epochs done
        result = run_in_folder(job, tmp_path / "shared")
    record_result(spec, store, result)
    assert bits(store, spec) == calm


def test_different_code_version_raises(spec: TrialSpec, store: Store) -> None:
    job = dataclasses.replace(remote_job(spec, store), code="0" * 16)
    record_result(spec, store, run_remote(job, lambda update: None))
    (record,) = store.trials([spec.id])
    assert record.status == "failed"
    assert "install the same version everywhere" in (record.error or "")


def test_failed_remote_trial_is_recorded(spec: TrialSpec, store: Store) -> None:
    other = dataclasses.replace(spec, data="0" * 64)
    record_result(other, store, run_remote(remote_job(other, store), lambda update: None))
    assert "made for other data" in (store.find(other.id).error or "")


def test_late_messages_are_ignored(spec: TrialSpec, store: Store) -> None:
    record_updates([RemoteUpdate(spec.id, environment={})], {}, store)
    assert store.trials() == []
