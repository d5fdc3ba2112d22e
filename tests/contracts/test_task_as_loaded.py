"""Metric and direction of a stored trial are those of the dataset as loaded, whichever executor ran it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.tu_archives import write_paths

from graphtrial.cli.main import app
from graphtrial.datasets import DATASETS, load
from graphtrial.datasets.prepare import task_of
from graphtrial.execution import run_trials
from graphtrial.execution.executor import EXECUTORS, make_executor
from graphtrial.execution.recording import record_result
from graphtrial.execution.remote import RemoteUpdate, run_remote
from graphtrial.execution.remote_store import record_updates, remote_job
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, TrialSpec

NAME = "tu/Lengths"


@pytest.fixture
def regression(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror with a set outside the catalog: thirty paths with a real number each instead of a class."""
    write_paths(tmp_path / "mirror", "Lengths")
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))


def _trials(layers: int = 2) -> list[TrialSpec]:
    rows = (ModelEntry("gcn", {"width": 4, "layers": layers}),)
    return Study("t", NAME, rows, "bgnn-v5/tu", seeds=1, splits=1, rules={"stopping.max_epochs": 1}).trials()


def _remote(trials: list[TrialSpec], store: Store) -> None:
    """Run trials as an executor does whose workers do not see the store."""
    for spec in trials:
        updates: list[RemoteUpdate] = []
        result = run_remote(remote_job(spec, store), updates.append)
        record_updates(updates, {spec.id: spec}, store)
        record_result(spec, store, result)


def _lost_at_once(trials: list[TrialSpec], store: Store) -> None:
    """Receive results of unknown trials."""
    for spec in trials:
        record_result(spec, store, run_remote(remote_job(spec, store), lambda update: None))


def _by(text: str) -> Callable[[list[TrialSpec], Store], None]:
    return lambda trials, store: run_trials(trials, store, executor=make_executor(text))


WAYS = {
    "processes:0": _by("processes:0"),
    "processes:1": _by("processes:1"),
    "vectorized": _by("vectorized"),
    "ray, with updates": _remote,
    "ray, without updates": _lost_at_once,
}


def test_every_executor_is_covered() -> None:
    assert {way.partition(":")[0].partition(",")[0] for way in WAYS} == set(EXECUTORS)


@pytest.mark.parametrize("way", WAYS)
def test_trial_takes_metric_from_the_loaded_dataset(regression: None, way: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "results" / "store.sqlite")
    WAYS[way](_trials(), store)
    (record,) = store.trials()
    assert (record.status, record.metric, record.higher_is_better) == ("done", "MAE", False)


def test_lower_error_is_better(regression: None, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    run = ["run", NAME, "gcn", "--protocol", "bgnn-v5/tu", "--splits", "3", "--seeds", "1", "--workers", "0"]
    for epochs in ("1", "60"):
        words = [
            *run,
            "--set",
            "width=8",
            "--set",
            "layers=2",
            "--rule",
            f"stopping.max_epochs={epochs}",
            "--store",
            str(path),
        ]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    shown = json.loads(CliRunner().invoke(app, ["report", "--json", "--store", str(path)]).stdout)
    rows = shown["rows"] if isinstance(shown, dict) else shown
    assert {(row["metric"], row["higher_is_better"]) for row in rows} == {("MAE", False)}


def test_restart_corrects_the_stored_metric(regression: None, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    (spec,) = _trials()
    store.start(spec, "accuracy", True, {})
    run_trials([spec], store, workers=0)
    assert (store.find(spec.id).metric, store.find(spec.id).higher_is_better) == ("MAE", False)


def test_missing_data_fail_the_trial_and_not_the_study(
    regression: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (spec,) = _trials()
    monkeypatch.delenv("GRAPHTRIAL_MIRROR")
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "other"))
    store = Store(tmp_path / "store.sqlite")
    run_trials([spec], store, workers=0)
    record = store.find(spec.id)
    assert (record.status, record.metric) == ("failed", "unknown")
    assert "Lengths.zip" in (record.error or "")


def test_dataset_outside_the_catalog_declares_no_task(regression: None) -> None:
    assert DATASETS.get(NAME).task is None
    assert task_of(NAME).name == load(NAME).task.name == "graph-regression"
