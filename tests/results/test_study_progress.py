"""A whole study in a store that several machines write to."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.files import make_folder
from graphtrial.results.live import snapshot
from graphtrial.results.study_progress import study_progress
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch
from graphtrial.trials import Store, TrialSpec
from graphtrial.trials import heartbeat as hearts

TOML = """title = "Two rows"
dataset = "csl"
seeds = 2

[rules]
"stopping.max_epochs" = 10

[[models]]
name = "gcn"
width = 8
layers = 2

[[models]]
name = "gin"
width = 8
layers = 2
"""


@pytest.fixture
def study() -> Study:
    rows = tuple(ModelEntry(name, {"width": 8, "layers": 2}) for name in ("gcn", "gin"))
    return Study("Two rows", "csl", rows, seeds=2, rules={"stopping.max_epochs": 10})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store.sqlite")


def run_on(store: Store, trial: TrialSpec, host: str, epochs: int, age: float = 0.0) -> Path:
    """Let a trial look as if a machine of that name were running it."""
    store.start(trial, "accuracy", True, {"python": "3"})
    store.add_epochs(trial.id, [Epoch(n, 1e-3, 1.0, 0.5, 70.0, 2.0) for n in range(1, epochs + 1)])
    file = make_folder(store.trial_folder(trial.id)) / hearts.FILE
    file.write_text(host)
    os.utime(file, (time.time() - age, time.time() - age))
    return file


def test_trials_of_other_machines_count_as_running_while_their_heart_beats(study: Study, store: Store) -> None:
    first, second, third = study.trials()[:3]
    run_on(store, first, "node-1", 4)
    run_on(store, second, "node-2", 1)
    run_on(store, third, "node-3", 1, age=10 * hearts.STALE_SECONDS)
    seen = snapshot(store)
    assert seen.statuses == {"interrupted": 1, "running": 2}
    progress = study_progress(study, store, seen)
    assert progress.hosts == {"node-1": 1, "node-2": 1}
    gcn, gin = progress.rows
    assert (gcn.trials, gcn.done, gcn.running, gin.running) == (10, 0, 2, 0)
    assert gcn.seconds_left is not None
    assert gin.seconds_left is not None
    assert gcn.seconds_left.low == gcn.seconds_left.high == 2.0 * (6 + 9 + 8 * 10)
    assert gin.seconds_left.low < gin.seconds_left.expected == 2.0 * 100 < gin.seconds_left.high
    assert progress.seconds_left is not None
    assert progress.seconds_left.expected == (190 + 200) / 2  # two at a time


def test_heart_beats_while_a_trial_runs(study: Study, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = study.trials()[0]
    monkeypatch.setattr(hearts, "BEAT_SECONDS", 0.01)
    file = run_on(store, trial, "", 0, age=1000)
    with hearts.heartbeat(store, trial.id):
        os.utime(file, (0, 0))
        deadline = time.monotonic() + 60
        while file.stat().st_mtime == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert file.stat().st_mtime > 0
        assert hearts.running_host(store, trial.id)
        assert not hearts.is_running(store, trial.id)  # of this machine, where the lock decides
    assert not file.exists()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(TOML)
    return path


def test_watch_shows_the_rows_of_a_study(file: Path, study: Study, store: Store) -> None:
    for trial, host in zip(study.trials(), ("node-1", "node-2"), strict=False):
        run_on(store, trial, host, 3)
    words = ["watch", str(file), "--store", str(store.path)]
    text = CliRunner().invoke(app, [*words, "--once"])
    assert text.exit_code == 0, text.output
    assert "Two rows: 0 of 20 trials done; running 1 on node-1, 1 on node-2; " in text.stdout
    assert "0/10" in text.stdout
    assert "node-2" in text.stdout.partition("running trials")[2]
    values = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert (values["study"]["trials"], values["study"]["done"], len(values["running"])) == (20, 0, 2)
