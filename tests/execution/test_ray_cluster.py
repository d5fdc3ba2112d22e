"""Trials on a real Ray cluster of several local nodes, with lost nodes and workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.results import results
from tests.helpers.tally import Tally

from graphtrial.core.errors import GraphTrialError
from graphtrial.execution import Progress, make_executor, run_trials
from graphtrial.execution.processes import Processes
from graphtrial.execution.ray_cluster import RayCluster
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, TrialSpec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.one_process,  # a test that kills workers must not find those of another
]

ROW = ModelEntry("gin", {"width": 8, "layers": 2}, ("laplacian:4",))
STUDY = """
title = "t"
dataset = "csl"
seeds = 1
splits = 3
rules = {{stopping.max_epochs = {epochs}, stopping.min_lr = 1e-9}}
[[models]]
name = "gin"
width = 8
layers = 2
encoding = "laplacian:4"
"""


def trials(epochs: int, splits: int = 3) -> list[TrialSpec]:
    return Study(
        "s", "csl", (ROW,), seeds=1, splits=splits, rules={"stopping.max_epochs": epochs, "stopping.min_lr": 1e-9}
    ).trials()


def test_executor_notation_is_parsed() -> None:
    assert make_executor("processes:4") == Processes(4)
    assert make_executor("ray") == RayCluster()
    assert make_executor("ray:10.0.0.1:6379,cpus=2,memory_gb=1.5") == RayCluster("10.0.0.1:6379", 2, 1.5)
    for text, reason in (
        ("rays", "Did you mean 'ray'"),
        ("ray:cpu=2", "Did you mean 'cpus'"),
        ("ray:cpus=0", "cpus of .* above 0"),
        ("ray:ray://head:10001", "on a machine of the cluster"),
    ):
        with pytest.raises(GraphTrialError, match=reason):
            make_executor(text)


def test_missing_ray_names_the_extra(study: Study, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(GraphTrialError, match=r"pip install 'graphtrial\[ray\]'"):
        run_trials(study.trials(), store, executor=RayCluster())


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without places for trials, to which a test adds nodes; each node has a cache of its own."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'graphtrial[ray]'")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    built = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    built.homes = tmp_path / "nodes"
    ray.init(address=built.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield built
    finally:
        ray.shutdown()
        built.shutdown()


def add_node(cluster: Any, name: str) -> Any:
    home = cluster.homes / name
    return cluster.add_node(num_cpus=1, env_vars={"GRAPHTRIAL_HOME": str(home)})


def test_lost_node_costs_at_most_one_epoch(
    cluster: Any, tmp_path: Path, tally: Tally, request: pytest.FixtureRequest
) -> None:
    calm, rough = Store(tmp_path / "calm" / "s.sqlite"), Store(tmp_path / "rough" / "s.sqlite")
    expected = trials(epochs=24, splits=2)
    run_trials(expected, calm, workers=0)
    nodes = [add_node(cluster, "a"), add_node(cluster, "b")]
    received: list[Progress] = []
    removed: list[int] = []

    def listen(progress: Progress) -> None:
        received.append(progress)
        if progress.event == "epoch" and progress.epoch >= 5 and not removed:
            removed.append(len(received))
            cluster.remove_node(nodes[0], allow_graceful=False)
            if request.config.getoption("--long"):  # else the other node takes its trial over
                add_node(cluster, "c")

    run_trials(expected, rough, executor=RayCluster(cluster.address), listener=listen)
    assert removed
    assert results(rough) == results(calm)
    starts = [record.starts for record in rough.trials()]
    assert sorted(starts) in ([1, 1], [1, 2])  # the node may have been between two trials
    result = [(p.trial.id, p.epoch) for p in received if p.event == "epoch"]
    assert len(result) - len(set(result)) <= 1  # at most one epoch was done twice
    for name in ("a", "b"):
        assert len([*(cluster.homes / name / "datasets").glob("csl-*/splits")]) == 1  # prepared there, once
    assert not list(rough.trials_folder.rglob("*checkpoint*"))
    tally.add("Ray", "a node removed in the middle of a study", "at most one epoch repeated, same bits")


def _workers() -> list[int]:
    """Return the processes that run a trial for Ray, which names them after it."""
    actual = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and b"ray::_task" in (folder / "cmdline").read_bytes():
                actual.append(int(folder.name))
        except OSError:
            continue
    return actual


@pytest.mark.long
def test_killed_worker_costs_at_most_one_epoch(cluster: Any, tmp_path: Path, tally: Tally) -> None:
    calm, rough = Store(tmp_path / "calm" / "s.sqlite"), Store(tmp_path / "rough" / "s.sqlite")
    expected = trials(epochs=60, splits=4)
    run_trials(expected, calm, workers=0)
    add_node(cluster, "a")
    add_node(cluster, "b")
    received: list[Progress] = []
    kills: list[float] = []
    going_on: set[str] = set()  # since the last kill; on a slow machine a trial may need long to begin again
    ended: set[str] = set()

    def listen(progress: Progress) -> None:
        received.append(progress)
        settled = (
            time.monotonic() - (kills or [0.0])[-1] > 3
        )  # messages received before may have been sent before the kill
        if progress.event == "epoch" and settled:
            going_on.add(progress.trial.id)
        elif progress.event == "end":
            ended.add(progress.trial.id)
        if len(kills) < 5 and settled and len(going_on - ended) >= min(2, len(expected) - len(ended)) > 0:
            for pid in _workers():
                os.kill(pid, signal.SIGKILL)
            kills.append(time.monotonic())
            going_on.clear()

    run_trials(expected, rough, executor=RayCluster(cluster.address), listener=listen)
    assert kills
    assert results(rough) == results(calm)
    result = [(p.trial.id, p.epoch) for p in received if p.event == "epoch"]
    assert len(result) - len(set(result)) <= 2 * len(kills)
    tally.add("Ray", "all workers killed at once", "at most one epoch of each repeated, same bits", len(kills))


@pytest.mark.long
def test_killed_driver_resumes_after_restart(cluster: Any, tmp_path: Path, tally: Tally) -> None:
    calm, path, file = Store(tmp_path / "calm" / "s.sqlite"), tmp_path / "rough" / "s.sqlite", tmp_path / "study.toml"
    file.write_text(STUDY.format(epochs=200))
    run_trials(trials(epochs=200), calm, workers=0)
    add_node(cluster, "a")
    add_node(cluster, "b")
    command = [sys.executable, "-m", "graphtrial", "study", str(file), "--store", str(path), "--json"]
    command += ["--executor", f"ray:{cluster.address}"]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (path.exists() and any(map(Store(path).history, _ids(path)))):
        time.sleep(0.2)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    before = {trial: len(Store(path).history(trial)) for trial in _ids(path)}
    assert any(before.values())
    received: list[Progress] = []
    run_trials(trials(epochs=200), Store(path), executor=RayCluster(cluster.address), listener=received.append)
    assert results(Store(path)) == results(calm)
    for trial, epochs in before.items():
        again = [p.epoch for p in received if p.trial.id == trial and p.event == "epoch"]
        assert not again or again[0] >= epochs  # resumed from the checkpoint
    tally.add("Ray", "driver killed and restarted", "resumed, same bits")


def _ids(path: Path) -> list[str]:
    return [record.id for record in Store(path).trials()]


@pytest.mark.long
def test_hanging_trial_on_the_cluster_is_killed(cluster: Any, tmp_path: Path, tally: Tally) -> None:
    from graphtrial.core.plugins.loader import load_plugin, unload_plugin

    file = tmp_path / "sleeper.py"
    file.write_text(
        "import time\nimport graphtrial as gt\n"
        "@gt.MODELS.register('sleeper')\nclass Sleeper(gt.Conv):\n    'Sleeps.'\n"
        "    def __init__(self, width: int):\n        super().__init__()\n"
        "    def forward(self, graph, x, e):\n        time.sleep(1e6)\n"
    )
    plugin = load_plugin(file)
    try:
        rows = (ModelEntry("sleeper", {"width": 8, "layers": 1}), ROW)
        rules = {"stopping.max_epochs": 2, "stopping.max_hours": 0.01}
        expected = Study("s", "csl", rows, seeds=1, splits=1, rules=rules).trials()
        add_node(cluster, "a")
        store = Store(tmp_path / "s.sqlite")
        run_trials(expected, store, executor=RayCluster(cluster.address, grace_seconds=20))
    finally:
        unload_plugin(plugin)
    assert [store.find(trial.id).status for trial in expected] == ["failed", "done"]
    assert "killed by the watchdog" in (store.find(expected[0].id).error or "")
    tally.add("Ray", "a trial hangs", "killed by the watchdog at its time limit, the other finishes")
