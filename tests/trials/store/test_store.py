from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
import torch
from tests.helpers.stores import change

from graphtrial.core.errors import GraphTrialError
from graphtrial.studies import Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec
from graphtrial.trials.environment import environment

EPOCHS = [Epoch(n, 1e-3, 1 / n, 2 / n, 50.0 + n, 0.1) for n in range(1, 6)]


def finished(spec: TrialSpec, store: Store, score: float = 71.5) -> None:
    store.start(spec, "accuracy", True, environment())
    outcome = Outcome("done", 1234, EPOCHS, {"train": 80.0, "val": 70.0, "test": score}, {"w": torch.zeros(1)})
    store.finish(spec.id, outcome)


def test_store_round_trip(store: Store, study: Study) -> None:
    spec = study.trials()[0]
    finished(spec, store)
    (record,) = store.trials()
    assert record.spec == spec
    assert record.is_finished
    assert (record.params, record.epochs, record.scores["test"]) == (1234, 5, 71.5)
    assert record.epoch_seconds == pytest.approx(0.1)
    assert store.history(spec.id) == EPOCHS
    assert record.environment["packages"]["torch"] == torch.__version__


def test_repeated_epoch_is_stored_once(store: Store, study: Study) -> None:
    spec = study.trials()[0]
    store.start(spec, "accuracy", True, environment())
    store.add_epochs(spec.id, EPOCHS[:3])
    store.add_epochs(spec.id, EPOCHS[1:4])
    assert store.history(spec.id) == EPOCHS[:4]


def test_finished_trial_cannot_be_marked_failed(store: Store, study: Study) -> None:
    spec = study.trials()[0]
    finished(spec, store)
    store.mark(spec.id, "failed", "too late")
    assert store.trials()[0].status == "done"


def test_trial_by_prefix_of_its_id(store: Store, study: Study) -> None:
    first, second = study.trials()[:2]
    finished(first, store)
    finished(second, store)
    assert store.find(first.id[:6]).id == first.id
    with pytest.raises(GraphTrialError, match="2 trials begin with ''"):
        store.find("")
    with pytest.raises(GraphTrialError, match="no trial begins with 'zz'"):
        store.find("zz")
    for text in ("\udcff", "a" * 5000, "%", "A"):  # no part of any id, and the first is none for SQLite either
        with pytest.raises(GraphTrialError, match="no trial begins"):
            store.find(text)


def _write_many(path: Path, specs: list[dict[str, object]], process: int) -> None:
    store = Store(path)
    for values in specs:
        spec = TrialSpec.from_dict(values)
        store.start(spec, "accuracy", True, {"process": process})
        for epoch in EPOCHS:
            store.add_epochs(spec.id, [epoch])
        store.finish(spec.id, Outcome("done", 1, EPOCHS, {"test": float(process)}))


@pytest.mark.slow
def test_concurrent_processes_create_and_write_the_store(tmp_path: Path, study: Study) -> None:
    path = tmp_path / "with spaces and ünicode" / "store.sqlite"
    specs = [spec.to_dict() for spec in study.trials()]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphtrial.execution.worker"])
    processes = [context.Process(target=_write_many, args=(path, specs, n)) for n in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    store = Store(path)
    assert [record.starts for record in store.trials()] == [8] * len(specs)
    assert all(len(store.history(record.id)) == len(EPOCHS) for record in store.trials())
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_other_file_or_schema_raises(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE something (a)")
    with pytest.raises(GraphTrialError, match="not a GraphTrial store"):
        Store(other)
    text = tmp_path / "text.sqlite"
    text.write_text("this is no database, but it is long enough to look like one" * 20)
    with pytest.raises(GraphTrialError, match="cannot be used"):
        Store(text)
    newer = tmp_path / "newer.sqlite"
    Store(newer)
    change(newer, "UPDATE about SET value = '99' WHERE key = 'schema'")
    with pytest.raises(GraphTrialError, match="schema 99"):
        Store(newer)


def test_environment_contains_no_host_or_path() -> None:
    import platform

    text = str(environment())
    assert platform.node() not in text or not platform.node()
    assert str(Path.home()) not in text
