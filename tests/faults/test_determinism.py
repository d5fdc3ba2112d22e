"""Trials are bit-exact in any process, order and environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.helpers.results import results
from tests.helpers.tally import Tally

from graphtrial.execution import run_trials
from graphtrial.execution.recording import record_result
from graphtrial.execution.remote import run_remote
from graphtrial.execution.remote_store import remote_job
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.batches import evaluation_batches
from graphtrial.training.evaluation import evaluate
from graphtrial.trials import Store
from graphtrial.trials.trial import make_job

pytestmark = pytest.mark.slow

RUN = ["run", "csl", "gatedgcn", "--width", "12", "--encoding", "laplacian:4", "--seeds", "1", "--splits", "2"]
RUN += ["--max-epochs", "3", "--set", "dropout=0.2", "--json"]
WORLDS = {
    "other hash seed": {"PYTHONHASHSEED": "12345"},
    "Turkish in Tokyo": {"LANG": "tr_TR.UTF-8", "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"},
    "four threads offered": {"OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "4", "NUMBA_NUM_THREADS": "2"},
}
ALL_AT_ONCE = "all of that at once"
WORLDS[ALL_AT_ONCE] = {name: value for world in WORLDS.values() for name, value in world.items()}


def study(splits: int = 2) -> Study:
    row = ModelEntry("gatedgcn", {"width": 12, "dropout": 0.2}, ("laplacian:4",))
    return Study("s", "csl", (row,), seeds=1, splits=splits, rules={"stopping.max_epochs": 3})


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, session_home: Path) -> dict[str, object]:
    """The bits of the trials, run in this process."""
    before = os.environ.get("GRAPHTRIAL_HOME")
    os.environ["GRAPHTRIAL_HOME"] = str(session_home)
    store = Store(tmp_path_factory.mktemp("calm") / "s.sqlite")
    try:
        run_trials(study().trials(), store, workers=0)
    finally:
        if before is not None:
            os.environ["GRAPHTRIAL_HOME"] = before
    return results(store)


@pytest.mark.parametrize(
    "world", [pytest.param(world, marks=() if world == ALL_AT_ONCE else pytest.mark.long) for world in WORLDS]
)
def test_fresh_process_is_bit_exact_in_any_environment(
    world: str, tmp_path: Path, expected: dict[str, object], tally: Tally
) -> None:
    elsewhere = tmp_path / "another folder"
    elsewhere.mkdir()
    path = tmp_path / "s.sqlite"
    line = [sys.executable, "-m", "graphtrial", *RUN, "--store", str(path), "--workers", "0"]
    done = subprocess.run(
        line, env={**os.environ, **WORLDS[world]}, cwd=elsewhere, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert results(Store(path)) == expected
    tally.add("same bits", f"a fresh process: {world}, another working directory", "scores, epochs, weights")


def test_parallel_processes_in_any_order_are_bit_exact(
    tmp_path: Path, expected: dict[str, object], tally: Tally
) -> None:
    store = Store(tmp_path / "s.sqlite")
    run_trials(study().trials()[::-1], store, workers=2)
    assert results(store) == expected
    tally.add("same bits", "two worker processes, trials in another order", "scores, epochs, weights")


def test_interleaved_trials_are_bit_exact(tmp_path: Path, expected: dict[str, object], tally: Tally) -> None:
    store = Store(tmp_path / "s.sqlite")
    others = Study(
        "s", "csl", (ModelEntry("gin", {"width": 9}),), seeds=2, splits=1, rules={"stopping.max_epochs": 1}
    ).trials()
    run_trials([others[0], study().trials()[1], others[1]], store, workers=0)
    (trial,) = [trial for trial in study().trials() if trial.id in results(store)]
    assert results(store)[trial.id] == expected[trial.id]
    tally.add("same bits", "between other trials in one process", "scores, epochs, weights")


def test_remote_job_is_bit_exact(tmp_path: Path, expected: dict[str, object], tally: Tally) -> None:
    store = Store(tmp_path / "s.sqlite")
    for trial in study().trials():
        record_result(trial, store, run_remote(remote_job(trial, store), lambda update: None))
    assert results(store) == expected
    tally.add("same bits", "remote job without the store, as on a cluster", "scores, epochs, weights")


def test_evaluation_does_not_depend_on_the_batch_size() -> None:
    import dataclasses

    job = make_job(study(splits=1).trials()[0])
    torch.manual_seed(0)
    model = job.build()
    actual = []
    for size in (1, 7, 64, 1000):
        rules = dataclasses.replace(job.rules, batch_size=size)
        batches = evaluation_batches(dataclasses.replace(job, rules=rules), "train")
        actual.append(evaluate(model, job.task, batches))
    losses, scores = zip(*actual, strict=True)
    assert len(set(scores)) == 1
    np.testing.assert_allclose(losses, losses[0], rtol=2e-6)
