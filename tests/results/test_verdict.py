"""Verdicts on published numbers, against SciPy and by hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from graphtrial.published import PublishedScore, published_results
from graphtrial.published.printed_results import PublishedModel
from graphtrial.results.departures import ORIGINS
from graphtrial.results.grouping import result_rows
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.summary import holm
from graphtrial.results.verdict import Verdict, tally, verdicts
from graphtrial.training import PROTOCOLS
from graphtrial.trials import Store

Filler = Callable[..., Any]
Judge = Callable[..., Verdict]
PRINTED = dataclasses.replace(
    next(row for row in published_results("bgnn-v5", 3) if row.printed.model == "GCN" and row.layers == 4),
    params=None,
    params_exact=None,
    higher_is_better=True,
)
SCORE = PublishedScore(70.0, 1.0, None, None, 4, "70.000±1.000")


@pytest.fixture
def judge(results: Store, fill: Filler) -> Judge:
    """A function that returns the verdict on our scores against a printed one."""

    def judge(ours: Sequence[float], score: PublishedScore = SCORE, splits: int = 1, **changes: Any) -> Verdict:
        fill("gcn", ours, splits=splits)
        (row,) = result_rows(results.trials())
        (actual,) = verdicts([dataclasses.replace(row, published=dataclasses.replace(PRINTED, test=score, **changes))])
        return actual

    return judge


@pytest.mark.parametrize(
    ("ours", "changes", "label"),
    [
        ([70.1, 69.8, 70.3, 70.0], {}, "reproduced"),
        ([64.0, 63.5, 64.4, 63.8], {}, "differs (worse)"),
        ([76.0, 76.5, 75.6, 76.2], {}, "differs (better)"),
        ([67.0, 73.5, 71.0, 69.0], {}, "inconclusive"),
        ([70.1, 69.8, 70.3, 70.0], {"doubtful": True}, "not comparable"),
    ],
)
def test_four_trials_can_reach_every_verdict(
    judge: Judge, ours: list[float], changes: dict[str, Any], label: str
) -> None:
    assert judge(ours, **changes).label == label


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_a_papers_own_measurement_gives_a_verdict(judge: Judge, origin: str) -> None:
    actual = judge([70.1, 69.8, 70.3, 70.0], origin=origin, citation="another paper, Table 2")
    assert (actual.label, actual.difference, actual.p) == ("not comparable", None, None)
    assert ORIGINS[origin] in actual.reason
    assert "another paper, Table 2" in actual.reason


def test_a_number_of_another_split_gives_no_verdict(judge: Judge) -> None:
    actual = judge([70.1, 69.8, 70.3, 70.0], incomparable="measured on another split")
    assert (actual.kind, actual.p) == ("not comparable", None)
    assert "another split" in actual.reason


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed", "wikics"])
def test_numbers_of_other_splits_are_marked(dataset: str) -> None:
    rows = [row for row in published_results("tunedgnn") if dataset in row.datasets and row.origin == "own"]
    assert len(rows) == 3
    assert all(row.incomparable and not row.reason for row in rows)


def test_every_number_whose_source_names_other_splits_gives_no_verdict() -> None:
    named = [row for row in published_results() if row.origin == "own" and row.protocol and "split" in row.citation]
    assert named
    assert all(row.incomparable or row.reason for row in named)


def test_a_verdict_says_where_a_score_was_read_and_what_is_wrong_with_it(judge: Judge) -> None:
    ours = [70.1, 69.8, 70.3, 70.0]
    assert "read in" not in judge(ours, citation="full text").reason
    reason = judge(ours, citation="notes of a reader", erratum="a third party measured 60").reason
    assert reason.endswith("; read in: notes of a reader; a third party measured 60")


def test_only_decided_and_inconclusive_rows_are_comparisons(judge: Judge) -> None:
    assert judge([70.1, 69.8, 70.3, 70.0]).is_comparison
    assert judge([67.0, 73.5, 71.0, 69.0]).is_comparison
    assert not judge([70.1, 69.8, 70.3, 70.0], origin="quoted").is_comparison


def test_sizes_that_the_paper_does_not_print_are_those_of_the_release(results: Store, fill: Filler) -> None:
    fill("gcn", [70.1, 69.8])
    (row,) = result_rows(results.trials())
    assert row.params
    printed = dataclasses.replace(PRINTED, test=SCORE, params=None, params_exact=round(1.2 * row.params))
    (actual,) = verdicts([dataclasses.replace(row, published=printed)])
    assert f"{round(1.2 * row.params)} published" in actual.reason


def test_a_sound_row_says_so_beside_a_number_of_the_released_code(results: Store, fill: Filler) -> None:
    fill("gcn-plus", [86.5, 86.6], arguments={"convolution": "gcn"})
    (row,) = result_rows(results.trials())
    for settings in ({}, {"convolution": "gcn"}):
        printed = dataclasses.replace(PRINTED, test=SCORE, models=(PublishedModel("gcn-plus", settings),))
        (actual,) = verdicts([dataclasses.replace(row, published=printed)])
        assert ("ours is the sound edition (convolution = gcn)" in actual.reason) == (not settings)


def test_every_origin_that_gives_no_verdict_has_words() -> None:
    assert {row.origin for row in published_results()} - {"own"} == set(ORIGINS)


def test_margin_is_two_std_or_one_percent(judge: Judge) -> None:
    ours = [70.4, 69.2, 71.1, 70.6]
    actual = judge(ours)
    std = 1.0 * math.sqrt(4 / 3)
    assert actual.margin == pytest.approx(2 * std)
    parts = [(float(np.var(ours, ddof=1)) / 4, 3), (std**2 / 4, 3), (0.0005**2 / 3, math.inf)]
    error = math.sqrt(sum(v for v, _ in parts))
    dof = error**4 / sum(v**2 / f for v, f in parts)
    gap = float(np.mean(ours)) - 70.0
    assert actual.difference == pytest.approx(gap)
    assert actual.p == pytest.approx(2 * stats.t.sf(gap / error, dof))
    assert actual.p_equivalence == pytest.approx(stats.t.sf((2 * std - gap) / error, dof))
    half = stats.t.ppf(0.975, dof) * error
    assert (actual.ci_low, actual.ci_high) == pytest.approx((gap - half, gap + half))
    welch = stats.ttest_ind_from_stats(gap + 70, np.std(ours, ddof=1), 4, 70.0, std, 4, equal_var=False)
    assert actual.p == pytest.approx(welch.pvalue, rel=1e-3)  # but for the rounding of the printed digits
    assert judge(ours, dataclasses.replace(SCORE, std=0.1)).margin == pytest.approx(0.70)


def test_constant_scores_are_handled_by_the_margin(judge: Judge) -> None:
    varied = PublishedScore(22.567, 6.089, None, None, 100, "22.567±6.089")
    assert judge([10.0] * 3, varied).label == "differs (worse)"


@pytest.mark.parametrize(
    ("mean", "printed", "label"),
    [
        (10.0, "10.000±0.000", "reproduced"),
        (10.05, "10.050±0.000", "reproduced"),
        (10.4, "10.400±0.000", "differs (worse)"),
    ],
)
def test_constant_scores_use_a_margin_of_one_percent(judge: Judge, mean: float, printed: str, label: str) -> None:
    actual = judge([10.0] * 3, PublishedScore(mean, 0.0, None, None, 100, printed))
    assert actual.label == label
    assert (actual.direction is None) == (mean == 10.0)


def test_constant_perfect_score_reproduces_a_near_perfect_one(judge: Judge) -> None:
    actual = judge([100.0] * 4, PublishedScore(99.6, 1.083, None, None, 100, "99.600±1.083"))
    assert (actual.kind, actual.direction) == ("reproduced", "better")
    assert "though significantly better" in actual.reason


def test_rounding_adds_to_the_standard_error(judge: Judge) -> None:
    exact = judge([0.4144] * 2, PublishedScore(0.41, 0.0, None, None, 4, "0.41±0.00"), higher_is_better=True)
    assert exact.p == pytest.approx(2 * stats.norm.sf(0.0044 / (0.005 / math.sqrt(3))), rel=1e-6)


def test_two_seeds_are_inconclusive_without_power(judge: Judge) -> None:
    actual = judge([66.0, 74.5])
    assert actual.kind == "inconclusive"
    assert actual.required_trials is not None
    assert actual.required_trials > 2
    assert f"about {actual.required_trials} further trials would decide:" in actual.reason


def test_required_trials_are_none_if_the_published_error_dominates(judge: Judge) -> None:
    actual = judge([71.45, 71.5, 71.55, 71.6])  # 1.3 published errors of a mean over four runs
    assert (actual.kind, actual.required_trials) == ("inconclusive", None)
    assert "no number of further trials" in actual.reason


def test_single_trial_has_no_std(judge: Judge) -> None:
    actual = judge([70.0])
    assert (actual.kind, actual.p, actual.ci_low) == ("inconclusive", None, None)
    assert actual.required_trials is not None
    assert "whose std is undefined" in actual.reason


@pytest.mark.parametrize("change", [{"std": None}, {"n": None}])
def test_missing_published_std_is_inconclusive(judge: Judge, change: dict[str, Any]) -> None:
    actual = judge([70.1, 69.8, 70.3], dataclasses.replace(SCORE, **change))
    assert (actual.kind, actual.required_trials) == ("inconclusive", None)
    assert "standard error of the published mean is unknown" in actual.reason


def test_printed_bootstrap_interval_gives_a_standard_error(judge: Judge) -> None:
    score = PublishedScore(70.0, None, None, None, 100, "70.0±0.3", ci95_half_width=0.3)
    actual = judge([70.2] * 3, score)
    std = 0.3 / 1.959964 * 10 * math.sqrt(100 / 99)
    assert actual.margin == pytest.approx(2 * std, rel=1e-5)
    error = math.sqrt(std**2 / 100 + 0.05**2 / 3)
    assert actual.p == pytest.approx(2 * stats.t.sf(0.2 / error, 99 * error**4 / (std**2 / 100) ** 2), rel=1e-4)


def test_lower_error_is_better(results: Store, fill: Filler) -> None:
    fill("gcn", [64.0, 63.5, 64.4, 63.8], higher_is_better=False)
    (row,) = result_rows(results.trials())
    beside = dataclasses.replace(PRINTED, test=SCORE, higher_is_better=False)
    assert verdicts([dataclasses.replace(row, published=beside)])[0].label == "differs (better)"


def with_verdicts(rows: list[ResultRow]) -> list[ResultRow]:
    return [dataclasses.replace(row, verdict=verdict) for row, verdict in zip(rows, verdicts(rows), strict=True)]


def test_p_values_are_corrected_within_a_table(results: Store, fill: Filler) -> None:
    ours = {"gcn": [72.5, 72.9, 73.0, 72.6], "gin": [70.2, 70.1, 69.8, 69.9], "gat": [71.0, 72.0, 74.0, 71.5]}
    for model, scores in ours.items():
        fill(model, scores)
    fill("monet", ours["gcn"], protocol="bgnn-v5/tu@1")
    beside = dataclasses.replace(PRINTED, test=SCORE)
    built = with_verdicts([dataclasses.replace(row, published=beside) for row in result_rows(results.trials())])
    of = {row.first.spec.model.name: row.verdict for row in built}
    p = [of[model].p for model in ours]
    assert [of[model].p_holm for model in ours] == pytest.approx(holm([float(x or 0) for x in p]))
    assert of["monet"].p_holm == of["monet"].p  # alone in its table


@pytest.mark.parametrize(("splits", "tested"), [(20, True), (1, False)])
def test_deterministic_svm_is_compared_exactly(results: Store, fill: Filler, splits: int, tested: bool) -> None:
    fill("svm", [69.0, 70.5] * (splits // 2) or [70.0], splits=splits)
    rules = PROTOCOLS.get("wikics/svm").rules
    trials = tuple(
        dataclasses.replace(record, spec=dataclasses.replace(record.spec, rules=rules, protocol="wikics/svm@1"))
        for record in results.trials()
    )
    (actual,) = verdicts([ResultRow(trials, dataclasses.replace(PRINTED, test=SCORE))])
    assert (actual.p is not None) == tested
    if tested:  # the error is that of the published mean and of its digits alone
        error = math.sqrt(4 / 3 / 4 + 0.0005**2 / 3)
        assert actual.p == pytest.approx(2 * stats.t.sf(0.25 / error, 3), rel=1e-4)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": 505_079, "params_exact": 505_079}, "differ in size"),
        ({"doubtful": True}, "doubtful"),
        ({"test": None, "status": "diverged"}, "prints no score: diverged"),
        ({"higher_is_better": False}, "metrics differ"),
    ],
)
def test_incomparable_rows_have_no_verdict(results: Store, fill: Filler, change: dict[str, Any], reason: str) -> None:
    fill("gcn", [70.0, 70.1])
    (row,) = result_rows(results.trials())
    (actual,) = verdicts([dataclasses.replace(row, published=dataclasses.replace(PRINTED, **change))])
    assert actual.kind == "not comparable"
    assert reason in actual.reason


def test_changed_rules_are_not_comparable(results: Store, fill: Filler) -> None:
    fill("gcn", [70.0, 70.1, 69.9])
    (row,) = result_rows(results.trials())
    beside = dataclasses.replace(row, published=dataclasses.replace(PRINTED, test=SCORE))
    trials = tuple(
        dataclasses.replace(
            trial, spec=dataclasses.replace(trial.spec, rules=trial.spec.rules.changed({"stopping.max_epochs": 3}))
        )
        for trial in row.trials
    )
    built = with_verdicts([beside, dataclasses.replace(beside, trials=trials)])
    assert "stopping.max_epochs = 3" in built[1].verdict.reason
    assert tally(built) == ({"reproduced": 1}, {"not comparable": 1})
    assert verdicts([dataclasses.replace(row, published=None)])[0].kind == "nothing published"
