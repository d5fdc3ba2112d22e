"""Tables that print two standard deviations: over repetitions and over all runs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphtrial.results import result_rows
from graphtrial.results.rows import ResultRow
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Outcome
from graphtrial.trials import Store


def row_of(tmp_path: Path, mean: float, seeds: int, splits: int = 10) -> ResultRow:
    """Return a row of 1-WL on ENZYMES with this mean: 50.8 ± 1.4 over ten repetitions, ± 7.1 over all hundred runs."""
    trials = Study("t", "csl", (ModelEntry("wl"),), protocol="tudataset/kernel-svm").trials()
    chosen = [spec for spec in trials if spec.seed < seeds and spec.split < splits]
    store = Store(tmp_path / "store.sqlite")
    scores = np.random.default_rng(0).normal(0, 7.1, len(chosen))
    for spec, score in zip(chosen, mean + scores - scores.mean(), strict=True):
        named = replace(spec, dataset="enzymes+labels")
        store.start(named, "accuracy", True, {})
        store.finish(named.id, Outcome("done", 0, [], {"test": float(score)}))
    (row,) = result_rows(store.trials())
    assert row.published is not None
    assert row.published.test is not None
    assert (row.published.test.std, row.published.test.std_all_runs) == (1.4, 7.1)
    return row


@pytest.mark.parametrize(("mean", "verdict"), [(51.0, "reproduced"), (65.0, "differs (better)")])
def test_kernel_is_compared_by_repetitions(tmp_path: Path, mean: float, verdict: str) -> None:
    row = row_of(tmp_path, mean, seeds=10)
    assert row.verdict.label == verdict
    assert row.verdict.margin == pytest.approx(2 * 1.4 * math.sqrt(10 / 9))
    of_seeds = row.over_seeds("test")
    assert of_seeds is not None
    assert of_seeds.std is not None
    error = math.sqrt(of_seeds.std**2 / 10 + (1.4 * math.sqrt(10 / 9)) ** 2 / 10 + 0.05**2 / 3)
    low, high = row.verdict.ci_low, row.verdict.ci_high
    assert low is not None
    assert high is not None
    assert (high - low) / 2 == pytest.approx(2.1 * error, rel=0.03)  # Student's t with about 18 degrees of freedom


def test_single_repetition_is_compared_run_by_run_with_the_same_margin(tmp_path: Path) -> None:
    row = row_of(tmp_path, 51.0, seeds=1)
    test = row.scores("test")
    assert test is not None
    assert test.std is not None
    assert row.verdict.margin == pytest.approx(2 * 1.4 * math.sqrt(10 / 9))
    assert row.verdict.kind == "inconclusive"
    error = math.sqrt(test.std**2 / 10 + 7.1**2 * (100 / 99) / 100 + 0.05**2 / 3)
    assert row.verdict.ci_high is not None
    assert row.verdict.ci_high - 0.2 > 2 * error


def test_required_trials_of_cross_validation_are_repetitions(tmp_path: Path) -> None:
    verdict = row_of(tmp_path, 49.6, seeds=2).verdict
    assert verdict.kind == "inconclusive"
    assert verdict.required_trials is None or verdict.required_trials % 10 == 0
