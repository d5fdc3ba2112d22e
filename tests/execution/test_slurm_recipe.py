"""The recipe for Slurm, with the executor of submitit that runs jobs on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.helpers.results import results
from tests.helpers.tally import Tally

from graphtrial.execution import run_trials
from graphtrial.studies import load_study
from graphtrial.trials import Store

pytestmark = pytest.mark.slow

RECIPE = Path(__file__).parents[2] / "examples" / "slurm.py"
STUDY = """
title = "t"
dataset = "csl"
seeds = 1
splits = 1
rules = {stopping.max_epochs = 150, stopping.min_lr = 1e-9}
[[models]]
name = "gin"
width = 8
layers = 2
"""


def processes_of(folder: Path) -> list[int]:
    """Return the processes that run a job whose files are in a folder."""
    actual = []
    for place in Path("/proc").iterdir():
        try:
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if place.name.isdigit() and str(folder).encode() in words and b"submitit.core._submit" in words:
            actual.append(int(place.name))
    return actual


@pytest.mark.long
def test_killed_job_resumes_bit_exact(tmp_path: Path, tally: Tally) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed: pip install 'graphtrial[slurm]'")
    file, path, shared = tmp_path / "study.toml", tmp_path / "results" / "s.sqlite", tmp_path / "shared"
    file.write_text(STUDY)
    line = [sys.executable, str(RECIPE), str(file), "--store", str(path), "--folder", str(shared)]
    recipe = subprocess.Popen([*line, "--cluster", "local", "--wait-seconds", "0.2"], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(shared.glob("trials/*/previous-checkpoint.safetensors")):
        time.sleep(0.05)
    killed = processes_of(shared / "jobs")
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    result, _ = recipe.communicate(timeout=180)
    (trial,) = load_study(str(file)).trials()
    assert killed
    assert recipe.returncode == 0
    assert result.split() == [trial.id, "done"]
    calm = Store(tmp_path / "calm" / "s.sqlite")
    run_trials([trial], calm, workers=0)
    assert results(Store(path)) == results(calm)
    tally.add("Slurm", "submitit job killed (local executor)", "requeued and resumed, same bits", len(killed))
