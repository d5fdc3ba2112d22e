"""Trackers receive the contents of the store and cannot affect a trial."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import MissingDependencyError, UnknownNameError
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.tracking import TRACKERS, tracked
from graphtrial.trials import Store


@pytest.fixture
def study() -> Study:
    return Study(
        "small",
        "csl",
        (ModelEntry("gcn", {"width": 8, "layers": 2}),),
        seeds=1,
        splits=2,
        rules={"stopping.max_epochs": 2},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results" / "store.sqlite")


class Notebook:
    """A tracker that writes everything down."""

    def __init__(self, folder: Path) -> None:
        self.lines: list[tuple[Any, ...]] = []

    def start(self, record: Any) -> None:
        self.lines.append(("start", record.id))

    def epoch(self, record: Any, epoch: Any) -> None:
        self.lines.append(("epoch", record.id, epoch))

    def end(self, record: Any) -> None:
        self.lines.append(("end", record.id, record.scores))

    def close(self) -> None:
        self.lines.append(("close",))


@pytest.mark.slow
def test_tracker_receives_every_epoch_and_result(study: Study, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Notebook(store.path)
    monkeypatch.setitem(TRACKERS, "notebook", lambda folder: book)
    with tracked("notebook", store, lambda progress: None) as listener:
        run_trials(study.trials(), store, workers=1, listener=listener)
    for record in store.trials():
        mine = [line for line in book.lines if len(line) > 1 and line[1] == record.id]
        assert [line[0] for line in mine] == ["start", "epoch", "epoch", "end"]
        assert [line[2] for line in mine[1:3]] == store.history(record.id)
        assert mine[3][2] == record.scores
    assert book.lines[-1] == ("close",)


def test_failing_tracker_does_not_affect_trials(
    study: Study, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Notebook):
        def epoch(self, record: Any, epoch: Any) -> None:
            raise ConnectionError("the server is gone")

    received: list[str] = []
    monkeypatch.setitem(TRACKERS, "broken", Broken)
    with (
        caplog.at_level(logging.WARNING),
        tracked("broken", store, lambda progress: received.append(progress.event)) as listener,
    ):
        run_trials(study.trials(), store, workers=0, listener=listener)
    assert [record.status for record in store.trials()] == ["done", "done"]
    assert received.count("end") == 2
    assert caplog.text.count("the server is gone") == 1
    assert "the trials continue" in caplog.text


def test_unreachable_tracker_does_not_stop_trials(
    study: Study, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unreachable(folder: Path) -> Notebook:
        raise ConnectionError("no such server")

    monkeypatch.setitem(TRACKERS, "unreachable", unreachable)
    with tracked("unreachable", store, lambda progress: None) as listener:
        run_trials(study.trials(), store, workers=0, listener=listener)
    assert [record.status for record in store.trials()] == ["done", "done"]
    assert "no such server" in caplog.text


def test_without_tracker_the_listener_is_unchanged(store: Store) -> None:
    def listener(progress: Any) -> None: ...

    with tracked(None, store, listener) as actual:
        assert actual is listener
    with pytest.raises(UnknownNameError, match="Did you mean 'mlflow'"), tracked("mlfow", store, listener):
        pass


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_missing_library_names_its_extra(name: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in ("mlflow", "alembic", "tensorboard", "torch.utils.tensorboard", "wandb"):
        monkeypatch.setitem(sys.modules, module, None)
    extra = "wandb" if name == "wandb" else "tracking"
    with (
        pytest.raises(MissingDependencyError, match=rf"graphtrial\[{extra}\]"),
        tracked(name, store, lambda progress: None),
    ):
        pass


def test_tensorboard_has_the_numbers_of_the_store(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    path = tmp_path / "r" / "store.sqlite"
    words = ["run", "csl", "gcn", "--width", "8", "--layers", "2", "--seeds", "1", "--splits", "1", "--max-epochs", "2"]
    built = CliRunner().invoke(app, [*words, "--workers", "0", "--track", "tensorboard", "--store", str(path)])
    assert built.exit_code == 0, built.output
    (record,) = Store(path).trials()
    events = accumulator.EventAccumulator(str(tmp_path / "r" / "tensorboard" / record.id))
    events.Reload()
    losses = [(event.step, event.value) for event in events.Scalars("val loss")]
    expected = [(epoch.epoch, pytest.approx(epoch.val_loss)) for epoch in Store(path).history(record.id)]
    assert losses == expected
    assert events.Scalars("final test accuracy")[0].value == pytest.approx(record.scores["test"])


@pytest.mark.slow
def test_mlflow_has_the_numbers_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracking = pytest.importorskip("mlflow.tracking")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    path = tmp_path / "r" / "store.sqlite"
    words = ["run", "csl", "gcn", "--width", "8", "--layers", "2", "--seeds", "1", "--splits", "1", "--max-epochs", "2"]
    built = CliRunner().invoke(app, [*words, "--workers", "0", "--track", "mlflow", "--store", str(path), "--json"])
    assert built.exit_code == 0, built.output
    assert json.loads(built.stdout)["test"]["n"] == 1
    (record,) = Store(path).trials()
    client = tracking.MlflowClient(f"sqlite:///{tmp_path / 'r' / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("graphtrial").experiment_id])
    assert run.data.tags["graphtrial.trial"] == record.id
    assert run.data.params["model.width"] == "8"
    assert run.data.metrics["final test accuracy"] == pytest.approx(record.scores["test"])
    losses = [(point.step, point.value) for point in client.get_metric_history(run.info.run_id, "val loss")]
    assert losses == [(epoch.epoch, pytest.approx(epoch.val_loss)) for epoch in Store(path).history(record.id)]
    assert run.info.status == "FINISHED"
