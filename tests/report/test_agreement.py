"""Agreement with the papers, against Welch's test of SciPy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest
import scipy.stats

from graphtrial.published import Score, rows
from graphtrial.report.agreement import agreement
from graphtrial.report.rows import ResultRow, result_rows
from graphtrial.studies import Store

Filler = Callable[..., Any]
PRINTED = next(row for row in rows("bgnn-v5", 3) if row.model == "GCN" and row.layers == 4)
OURS = [0.40, 0.42, 0.44, 0.41]


@pytest.fixture
def row(results: Store, fill: Filler) -> ResultRow:
    """Four trials of GCN on ZINC, and the printed row of 0.416 ± 0.006 over four runs."""
    fill("gcn", OURS, dataset="zinc", protocol="bgnn-v5/csl@1", higher_is_better=False, params=103_077)
    (made,) = result_rows(results.trials())
    return dataclasses.replace(made, published=PRINTED)


def with_score(row: ResultRow, **changes: Any) -> ResultRow:
    assert PRINTED.test is not None
    score = dataclasses.replace(PRINTED.test, **changes)
    return dataclasses.replace(row, published=dataclasses.replace(PRINTED, test=score))


def test_the_verdict_is_welchs(row: ResultRow) -> None:
    found = agreement(row)
    ours, theirs = scipy.stats.describe(OURS), 0.006 * math.sqrt(4 / 3)
    expected = scipy.stats.ttest_ind_from_stats(
        ours.mean, math.sqrt(ours.variance), 4, 0.416, theirs, 4, equal_var=False
    )
    assert found.verdict == "agrees"
    assert found.p == pytest.approx(expected.pvalue)
    squares = [ours.variance / 4, theirs**2 / 4]
    freedom = sum(squares) ** 2 / sum(square**2 / 3 for square in squares)
    half = scipy.stats.t.ppf(0.975, freedom) * math.sqrt(sum(squares))
    gap = ours.mean - 0.416
    assert (found.difference, found.low, found.high) == pytest.approx((gap, gap - half, gap + half))
    assert "within sampling error" in found.reason
    assert "bgnn-v5, table 3" in found.reason


@pytest.mark.parametrize(("mean", "verdict"), [(0.7, "better"), (0.1, "worse")])
def test_lower_errors_are_better(row: ResultRow, mean: float, verdict: str) -> None:
    found = agreement(with_score(row, mean=mean, printed=f"{mean:.3f}±0.006"))
    assert found.verdict == verdict
    assert "more than sampling error" in found.reason


def test_the_same_number_to_the_printed_digits_agrees_though_nothing_varies(results: Store, fill: Filler) -> None:
    fill("gcn", [10.0, 10.0, 10.0])
    (made,) = result_rows(results.trials())
    printed = dataclasses.replace(PRINTED, params=None, higher_is_better=True)
    for mean, verdict in ((10.0004, "agrees"), (10.001, "worse")):
        score = Score(mean, 0.0, None, None, 100, f"{mean:.3f}±0.000")
        published = dataclasses.replace(printed, test=score)
        assert agreement(dataclasses.replace(made, published=published)).verdict == verdict


@pytest.mark.parametrize(
    ("ours", "score", "side"),
    [([100.0] * 4, Score(99.6, 1.083, None, None, 100, "99.600±1.083"), "here"),
     ([99.0, 100.0, 99.5, 100.0], Score(100.0, 0.0, None, None, 100, "100.000±0.000"), "there")],
)  # fmt: skip
def test_runs_that_all_gave_one_score_are_no_proof_that_nothing_varies(
    ours: list[float], score: Score, side: str, results: Store, fill: Filler
) -> None:
    fill("gcn", ours)
    (made,) = result_rows(results.trials())
    published = dataclasses.replace(PRINTED, params=None, higher_is_better=True, test=score)
    found = agreement(dataclasses.replace(made, published=published))
    spread = 1.083 * math.sqrt(100 / 99) if side == "here" else scipy.stats.tstd(ours)
    welch = scipy.stats.ttest_ind_from_stats(sum(ours) / 4, spread, 4, score.mean, spread, 100, equal_var=False)
    assert found.verdict == "agrees"
    assert found.p == pytest.approx(welch.pvalue)
    assert f"all runs {side} gave one score" in found.reason


def test_several_splits_of_the_same_data_are_compared_run_by_run(results: Store, fill: Filler) -> None:
    scores = [31.0, 33.5, 30.5, 32.0, 34.0, 29.5, 31.5, 33.0, 30.0, 32.5]
    fill("gcn", scores, splits=5)
    (made,) = result_rows(results.trials())
    score = Score(29.5, 1.0, None, None, 100, "29.5±1.0")
    found = agreement(
        dataclasses.replace(
            made, published=dataclasses.replace(PRINTED, params=None, higher_is_better=True, test=score)
        )
    )
    deviation = scipy.stats.tstd(scores)
    welch = scipy.stats.ttest_ind_from_stats(31.75, deviation, 10, 29.5, math.sqrt(100 / 99), 100, equal_var=False)
    assert found.p == pytest.approx(welch.pvalue)
    assert found.verdict == "better"


def test_a_single_trial_borrows_the_published_spread(row: ResultRow) -> None:
    single = dataclasses.replace(row, trials=row.trials[:1])
    found = agreement(single)
    assert "a single trial here" in found.reason
    assert found.p is not None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": 505_079}, "differ in size"),
        ({"note": "DOUBTFUL: assumed"}, "doubtful"),
        ({"test": None, "status": "diverged"}, "prints no score: diverged"),
        ({"higher_is_better": True}, "metrics differ"),
    ],
)
def test_what_does_not_compare_is_not_compared(row: ResultRow, change: dict[str, Any], reason: str) -> None:
    found = agreement(dataclasses.replace(row, published=dataclasses.replace(PRINTED, **change)))
    assert found.verdict == "not comparable"
    assert reason in found.reason


def test_changed_rules_and_other_data_do_not_compare(row: ResultRow) -> None:
    trial = row.trials[0]
    spec = dataclasses.replace(trial.spec, rules=dataclasses.replace(trial.spec.rules, max_epochs=3))
    changed = dataclasses.replace(row, trials=(dataclasses.replace(trial, spec=spec),))
    assert "max_epochs = 3" in agreement(changed).reason
    cycles = dataclasses.replace(trial, spec=dataclasses.replace(trial.spec, dataset="cycles-200"))
    assert "another generator" in agreement(dataclasses.replace(row, trials=(cycles,))).reason
    assert agreement(dataclasses.replace(row, published=None)).verdict == "nothing published"
