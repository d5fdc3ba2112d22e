from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from graphtrial.process import memory_meter
from graphtrial.studies import Row, Store, Study, run_trials

MEBIBYTE = 1 << 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel of Linux counts it")
def test_the_peak_is_what_was_taken_and_given_back_since() -> None:
    told = memory_meter()
    taken = np.ones(60 * MEBIBYTE, np.uint8)
    assert taken.sum() == 60 * MEBIBYTE
    del taken
    peak = told()["peak_bytes"]
    assert 50 * MEBIBYTE < peak < 120 * MEBIBYTE
    assert memory_meter()()["peak_bytes"] < peak / 2


def test_a_trial_in_a_process_of_its_own_keeps_its_peak(tmp_path: Path) -> None:
    study = Study("s", "csl", (Row("gcn", {"width": 8, "layers": 1}),), seeds=1, splits=1, rules={"max_epochs": 1})
    store = Store(tmp_path / "store.sqlite")
    run_trials(study.trials(), store, workers=1)
    (record,) = store.trials()
    assert record.status == "done", record.error
    if sys.platform.startswith("linux"):
        assert 0 < record.details["peak_bytes"] < 2000 * MEBIBYTE
