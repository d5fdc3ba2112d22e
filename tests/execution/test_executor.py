from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.helpers.results import LONGER, results

from graphtrial.execution import Progress, run_trials
from graphtrial.execution.worker import run_and_record
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch
from graphtrial.trials import Store
from graphtrial.trials.heartbeat import is_running

pytestmark = pytest.mark.slow

ENDLESS = LONGER.replace("max_epochs = 12", "max_epochs = 100000, stopping.min_lr = 1e-300")


def test_worker_processes_are_bit_exact(study: Study, tmp_path: Path) -> None:
    alone, pool = Store(tmp_path / "alone" / "s.sqlite"), Store(tmp_path / "pool" / "s.sqlite")
    run_trials(study.trials(), alone, workers=0)
    received: list[Progress] = []
    run_trials(list(reversed(study.trials())), pool, workers=2, listener=received.append)
    assert len(results(alone)) == 4
    assert results(alone) == results(pool)
    assert [p.event for p in received].count("end") == 4
    assert sorted(p.epoch for p in received if p.event == "epoch") == [1] * 4 + [2] * 4


def test_finished_trial_is_not_rerun(study: Study, store: Store) -> None:
    trials = study.trials()[:2]
    run_trials(trials + trials, store, workers=0)
    received: list[Progress] = []
    run_trials(trials, store, workers=2, listener=received.append)
    run_and_record(trials[0], store)
    assert not received
    assert [record.starts for record in store.trials()] == [1, 1]
    assert not list(store.trials_folder.rglob("*checkpoint*"))


def test_failed_trial_stores_traceback_and_others_run(store: Store, study: Study) -> None:
    bad = dataclasses.replace(study.trials()[0], data="0" * 64)
    run_trials([bad, study.trials()[0]], store, workers=2)
    statuses = {record.id: record.status for record in store.trials()}
    assert statuses == {bad.id: "failed", study.trials()[0].id: "done"}
    assert "made for other data" in (store.find(bad.id).error or "")
    run_trials([bad], store, workers=0)
    assert store.find(bad.id).starts == 2  # a failed trial is retried on request


def test_workers_use_current_settings(
    study: Study, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = study.trials()[:2]
    run_trials([first], store, workers=1)  # the fork server runs from here on at the latest
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "another"))
    run_trials([second], store, workers=1)
    assert store.find(second.id).status == "done"
    assert list((tmp_path / "another").iterdir())


def test_killed_worker_does_not_abort_the_study(store: Store) -> None:
    rows = (ModelEntry("gin", {"width": 8, "layers": 2}),)
    trials = Study("s", "csl", rows, seeds=1, splits=3, rules={"stopping.max_epochs": 5}).trials()
    killed: list[str] = []

    def kill_first(progress: Progress) -> None:
        if progress.event == "epoch" and not killed:
            killed.append(progress.trial.id)
            for pid in _children_of(os.getpid()):
                os.kill(pid, signal.SIGKILL)

    run_trials(trials, store, workers=1, listener=kill_first)
    statuses = [store.find(trial.id).status for trial in trials]
    assert statuses == ["failed", "done", "done"]
    assert "killed" in (store.find(killed[0]).error or "")


def _children_of(driver: int) -> list[int]:
    """Return the trial processes: those whose parent is the fork server of this process."""
    actual = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            grandparent = int((Path("/proc") / str(parent) / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if grandparent == driver:
            actual.append(int(folder.name))
    return actual


def test_running_trial_is_locked(study: Study, store: Store) -> None:
    spec = study.trials()[0]
    seen: list[bool] = []

    def look(epoch: Epoch) -> None:
        seen.append(is_running(store, spec.id))

    assert not is_running(store, spec.id)
    run_and_record(spec, store, look)
    assert seen == [True, True]
    assert not is_running(store, spec.id)


def wait_for_an_epoch(path: Path) -> None:
    """Return when the first epoch is in the store."""
    deadline = time.monotonic() + 300
    while not (path.exists() and any(Store(path).history(record.id) for record in Store(path).trials())):
        assert time.monotonic() < deadline, "no epoch in five minutes"
        time.sleep(0.2)


@contextmanager
def endless_study(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A study that does not end by itself, in a session of its own, and its store; nothing of it outlives the test."""
    study, path = tmp_path / "study.toml", tmp_path / "results" / "s.sqlite"
    study.write_text(ENDLESS)
    line = [sys.executable, "-m", "graphtrial", "study", str(study), "--store", str(path), "--json"]
    process = subprocess.Popen(line, start_new_session=True, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_ctrl_c)
    try:
        wait_for_an_epoch(path)
        yield process, path
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _heed_ctrl_c() -> None:
    """Restore SIGINT, which shells ignore in background processes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    with endless_study(tmp_path) as (process, path):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the group
        _, message = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "0 of 2 trials are finished. The same command resumes the others" in message
    assert "Traceback" not in message
    assert {record.status for record in Store(path).trials()} == {"interrupted"}


def test_ctrl_c_records_trials_whose_workers_have_recorded_nothing(study: Study, store: Store) -> None:
    started: list[str] = []

    def interrupt(progress: Progress) -> None:
        started.append(progress.trial.id)
        if len(started) == 2:  # before the workers have imported torch
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(study.trials(), store, workers=2, listener=interrupt)
    assert {record.id: record.status for record in store.trials()} == dict.fromkeys(started, "interrupted")


def test_ctrl_c_in_this_process_records_the_trial(study: Study, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("graphtrial.execution.worker.environment", interrupted)
    trial = study.trials()[0]
    with pytest.raises(KeyboardInterrupt):
        run_trials([trial], store, workers=0)
    assert [(record.id, record.status) for record in store.trials()] == [(trial.id, "interrupted")]


def test_workers_exit_when_the_driver_is_killed(tmp_path: Path) -> None:
    with endless_study(tmp_path) as (process, path):
        process.kill()
        process.wait()
        store, deadline = Store(path), time.monotonic() + 300
        while time.monotonic() < deadline and any(is_running(store, record.id) for record in store.trials()):
            time.sleep(0.2)
        assert not any(is_running(store, record.id) for record in store.trials())


@pytest.mark.parametrize("workers", [0, 2])
def test_trial_does_not_depend_on_other_trials(study: Study, tmp_path: Path, workers: int) -> None:
    trial = study.trials()[2]
    alone, batched = Store(tmp_path / "alone" / "s.sqlite"), Store(tmp_path / "together" / "s.sqlite")
    run_trials([trial], alone, workers=0)
    run_trials(study.trials(), batched, workers=workers)
    assert results(alone)[trial.id] == results(batched)[trial.id]
