"""Placement of trials by executors: threads, GPUs, cluster resources."""

from __future__ import annotations

import re

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware import compute
from graphtrial.core.hardware.compute import Compute
from graphtrial.execution import make_executor, run_trials
from graphtrial.execution.ray_cluster import RayCluster
from graphtrial.execution.vectorized import Vectorized
from graphtrial.studies import Study
from graphtrial.trials import Store


def test_trials_record_their_device(study: Study, store: Store) -> None:
    first, second = study.trials()[:2]
    run_trials([first], store, workers=0, compute=Compute("cpu", threads=1))
    run_trials([second], store, workers=1, compute=Compute("cpu", threads=3))
    where = {record.id: record.environment for record in store.trials()}
    assert [where[trial.id]["device"] for trial in (first, second)] == ["cpu", "cpu"]
    assert [where[trial.id]["threads"] for trial in (first, second)] == [1, 3]


def test_processes_use_every_gpu(study: Study, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver sees two fake GPUs; workers record the one assigned to them."""
    monkeypatch.setattr(compute, "_cuda_devices", lambda: ("cuda:0", "cuda:1"))
    trials = study.trials()
    run_trials(trials, store, compute=Compute("cuda"))
    records = [store.find(trial.id) for trial in trials]
    assert len(records) == 4
    assert {record.status for record in records} == {"failed"}
    given = [
        re.search(r"(cuda:\d) is not there: torch finds no CUDA device;", record.error or "") for record in records
    ]
    devices = [match and match[1] for match in given]
    assert set(devices[:2]) == set(devices) == {"cuda:0", "cuda:1"}, "the first two trials run at once, one on each"


def test_missing_gpu_is_an_error_before_anything_runs(study: Study, store: Store) -> None:
    with pytest.raises(GraphTrialError, match="--device cpu"):
        run_trials(study.trials(), store, compute=Compute("cuda"))
    assert not store.trials()


def test_vectorized_executor_refuses_a_gpu(study: Study, store: Store) -> None:
    with pytest.raises(GraphTrialError, match="computes on the CPU"):
        Vectorized().run(study.trials(), store, lambda progress: None, Compute("cuda"))


def test_ray_requests_gpus_per_trial() -> None:
    plain = RayCluster(cpus=2)
    on_gpu = Compute("cuda", threads=2)
    assert plain.resources(Compute("auto"), cluster_gpus=0) == (Compute("cpu", threads=2), 0)
    assert plain.resources(Compute("auto"), cluster_gpus=4) == (on_gpu, 1)
    assert plain.resources(Compute("cpu"), cluster_gpus=4) == (Compute("cpu", threads=2), 0)
    assert plain.resources(Compute("cuda", per_device=4), 1) == (Compute("cuda", threads=2, per_device=4), 0.25)
    assert RayCluster(gpus=2).resources(Compute("cuda"), 4) == (Compute("cuda", threads=1), 2)
    with pytest.raises(GraphTrialError, match="asks for 1 GPUs and the cluster has 0"):
        plain.resources(Compute("cuda"), cluster_gpus=0)


@pytest.mark.parametrize(
    ("executor", "device", "words"),
    [("ray", "cuda:1", "Ray chooses the GPU"), ("ray:local,gpus=1", "cpu", "leaves idle")],
)
def test_ray_raises_for_unavailable_resources(
    executor: str, device: str, words: str, study: Study, store: Store
) -> None:
    with pytest.raises(GraphTrialError, match=words):
        run_trials(study.trials(), store, executor=make_executor(executor), compute=Compute(device))
