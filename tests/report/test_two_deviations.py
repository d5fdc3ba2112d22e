"""Tables that print two deviations: over repetitions and over all runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphtrial.report import result_rows
from graphtrial.report.agreement import agreement
from graphtrial.studies import Row, Store, Study
from graphtrial.training.outcome import Outcome


@pytest.mark.parametrize(("mean", "verdict"), [(52.5, "agrees"), (65.0, "better")])
def test_a_kernel_is_compared_with_the_deviation_over_all_runs(tmp_path: Path, mean: float, verdict: str) -> None:
    # 1-WL on ENZYMES has 50.8 ± 1.4 over ten repetitions and ± 7.1 over all hundred runs (TUDataset, table 1).
    trials = Study("t", "csl", (Row("wl"),), protocol="tudataset/kernel-svm").trials()
    store = Store(tmp_path / "store.sqlite")
    scores = np.random.default_rng(0).normal(0, 7.1, len(trials))
    for spec, score in zip(trials, mean + scores - scores.mean(), strict=True):
        named = replace(spec, dataset="enzymes+labels")
        store.start(named, "accuracy", True, {})
        store.finish(named.id, Outcome("done", 0, [], {"test": float(score)}))
    (row,) = result_rows(store.trials())
    assert row.published is not None
    assert row.published.test is not None
    assert (row.published.test.sd, row.published.test.sd_all_runs) == (1.4, 7.1)
    assert agreement(row).verdict == verdict
