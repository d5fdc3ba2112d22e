"""Stores that are kept open: one connection, a write-ahead log meanwhile, one file afterwards."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.helpers.sites import sample_store

from graphtrial.core.errors import GraphTrialError
from graphtrial.studies import Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec
from graphtrial.trials.store import database


def epoch(number: int) -> Epoch:
    return Epoch(number, 1e-3, 1.0, 1.0, 50.0, 0.1)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modes of all connections that were opened."""
    modes: list[str] = []
    connect = database.connect

    def count(path: Path, mode: str) -> sqlite3.Connection:
        modes.append(mode)
        return connect(path, mode)

    monkeypatch.setattr(database, "connect", count)
    return modes


def test_a_store_kept_open_uses_one_connection_and_is_one_file_afterwards(
    store: Store, study: Study, opened: list[str]
) -> None:
    spec, folder = study.trials()[0], store.path.parent
    with store.kept_open(), store.kept_open():
        store.start(spec, "accuracy", True, {})
        for number in range(1, 6):
            Store(store.path).add_epochs(spec.id, [epoch(number)])
        assert store.history(spec.id) == [epoch(number) for number in range(1, 6)]
        assert len(Store(store.path, read_only=True).trials()) == 1
        assert {path.name for path in folder.glob("*sqlite*")} == {
            f"{store.path.name}{end}" for end in ("", "-wal", "-shm")
        }
    assert opened == ["mode=rw"]
    assert [path.name for path in folder.glob("*sqlite*")] == [store.path.name]
    assert store.path.read_bytes()[18:20] == b"\1\1"  # a rollback journal
    assert len(store.history(spec.id)) == 5


def test_results_wait_for_the_disk_and_epochs_do_not(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, levels = study.trials()[0], []
    transaction = database.transaction

    def note(connection: sqlite3.Connection, begin: str) -> object:
        levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])
        return transaction(connection, begin)

    with store.kept_open():
        monkeypatch.setattr(database, "transaction", note)
        store.start(spec, "accuracy", True, {})
        store.add_epochs(spec.id, [epoch(1)])
        store.finish(spec.id, Outcome("done", 1, [epoch(1)], {"test": 1.0}))
    assert levels == [1, 1, 2]  # NORMAL, NORMAL, FULL


def test_another_file_system_keeps_the_rollback_journal(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphtrial.trials.store.journal.LOCAL", frozenset())
    spec = study.trials()[0]
    with store.kept_open():
        store.start(spec, "accuracy", True, {})
        assert [path.name for path in store.path.parent.glob("*sqlite*")] == [store.path.name]
    assert len(store.trials()) == 1


def test_other_threads_and_reads_within_a_transaction_have_connections_of_their_own(tmp_path: Path) -> None:
    store = sample_store(tmp_path / "store.sqlite")
    expected, errors = store.trials(), []
    with store.kept_open():
        for _ in store.examine():  # a read transaction around others
            assert store.trials() == expected

        def read() -> None:
            errors.append(store.trials() != expected)

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert errors == [False]


def test_a_store_deleted_or_replaced_meanwhile_is_not_written_to(tmp_path: Path, study: Study) -> None:
    spec, store = study.trials()[0], Store(tmp_path / "s" / "store.sqlite")
    with store.kept_open():
        store.start(spec, "accuracy", True, {})
        shutil.rmtree(store.path.parent)
        with pytest.raises(GraphTrialError, match="cannot be used"):
            store.add_epochs(spec.id, [epoch(1)])
        assert Store(store.path).trials() == []  # another file
    assert Store(store.path).trials() == []


def test_a_forked_process_leaves_the_connection_of_its_parent_alone(store: Store, study: Study) -> None:
    spec = study.trials()[0]
    store.start(spec, "accuracy", True, {})
    with store.kept_open():
        store.add_epochs(spec.id, [epoch(1)])
        child = os.fork()
        if not child:
            code = 1
            try:
                Store(store.path).add_epochs(spec.id, [epoch(2)])
                code = 0 if not database._open_connections else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        store.add_epochs(spec.id, [epoch(3)])
        assert [one.epoch for one in store.history(spec.id)] == [1, 2, 3]


def _write(path: Path, values: dict[str, object], go: Connection) -> None:
    store, spec = Store(path), TrialSpec.from_dict(values)
    with store.kept_open():
        go.recv()
        store.start(spec, "accuracy", True, {})
        for number in range(1, 201):
            store.add_epochs(spec.id, [epoch(number)])


def _in_processes(
    path: Path, study: Study, meanwhile: Callable[[list[multiprocessing.process.BaseProcess]], None]
) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphtrial.execution.worker"])
    writers, pipes = [], []
    for spec in study.trials()[:2]:
        ours, theirs = context.Pipe()
        writers.append(context.Process(target=_write, args=(path, spec.to_dict(), theirs)))
        pipes.append(ours)
        writers[-1].start()
    for pipe in pipes:
        pipe.send("go")
    meanwhile(writers)
    for writer in writers:
        writer.join()


def test_two_processes_write_and_close_at_once(store: Store, study: Study) -> None:
    _in_processes(store.path, study, lambda writers: None)
    assert [len(store.history(record.id)) for record in store.trials()] == [200, 200]
    assert [path.name for path in store.path.parent.glob("*sqlite*")] == [store.path.name]
    assert store.path.read_bytes()[18:20] == b"\1\1"


def test_killed_writer_leaves_no_lock(store: Store, study: Study) -> None:
    def kill(writers: list[multiprocessing.process.BaseProcess]) -> None:
        while not store.trials():
            pass
        writers[0].kill()

    _in_processes(store.path, study, kill)
    other = study.trials()[1]
    assert len(store.history(other.id)) == 200
    store.mark(other.id, "failed", "writable")
    assert store.find(other.id).error == "writable"
    assert [path.name for path in store.path.parent.glob("*sqlite*")] == [store.path.name]
