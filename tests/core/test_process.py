from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from graphtrial.core.process import compute_settings, flushes_denormals
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store

MEBIBYTE = 1 << 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel of Linux counts it")
def test_peak_memory_includes_freed_memory() -> None:
    """In a process of its own: this one may have kept as much from the tests before."""
    code = """
import numpy as np
from graphtrial.core.process import memory_meter
read = memory_meter()
taken = np.ones(60 << 20, np.uint8)
del taken
print(read()["peak_bytes"], memory_meter()()["peak_bytes"])
"""
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    peak, after = map(int, output.split())
    assert 50 * MEBIBYTE < peak < 120 * MEBIBYTE
    assert after < peak / 2


def test_worker_process_records_peak_memory(tmp_path: Path) -> None:
    study = Study(
        "s", "csl", (ModelEntry("gcn", {"width": 8, "layers": 1}),), seeds=1, splits=1, rules={"stopping.max_epochs": 1}
    )
    store = Store(tmp_path / "store.sqlite")
    run_trials(study.trials(), store, workers=1)
    (record,) = store.trials()
    assert record.status == "done", record.error
    if sys.platform.startswith("linux"):
        assert 0 < record.details["peak_bytes"] < 2000 * MEBIBYTE


def test_nested_settings_end_with_the_outer_ones() -> None:
    before, threads = flushes_denormals(), torch.get_num_threads()
    with compute_settings():
        assert flushes_denormals()
        with compute_settings():
            assert flushes_denormals()
        assert flushes_denormals()
        assert torch.get_num_threads() == 1
    assert flushes_denormals() == before
    assert torch.get_num_threads() == threads
