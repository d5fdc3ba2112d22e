"""Rows against each other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.results.compare import compare
from graphtrial.results.rows import result_rows
from graphtrial.results.select import matches
from graphtrial.trials import Store

Filler = Callable[..., Any]
HIGH = [80.1, 80.9, 80.4, 81.2, 80.6, 80.3, 80.8, 80.7]
LOW = [70.2, 71.1, 70.3, 71.0, 70.9, 70.1, 70.7, 70.6]
LAPLACIAN = Component("laplacian", {"k": 20, "sign": "random"})


def test_a_clear_difference_is_called_so(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", HIGH)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "A is better"
    assert found.difference.p == pytest.approx(2 / math.comb(16, 8), abs=1e-4)  # drawn, so that 1 / 10,000 is the least
    assert found.difference.design == "independent"
    assert (found.seeds, found.splits, found.more_seeds) == (8, 1, 0)
    assert found.conclusion.startswith("gin/layers=4 is better than gcn/layers=4 by ")


def test_where_lower_is_better_the_lower_one_wins(results: Store, fill: Filler) -> None:
    fill("gcn", LOW, higher_is_better=False)
    fill("gin", HIGH, higher_is_better=False)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "B is better"
    assert found.difference.mean > 0


def test_pairs_are_splits_and_seeds_are_averaged(results: Store, fill: Filler) -> None:
    fill("gcn", [1, 2, 3, 4, 5, 6], splits=3)
    fill("gin", [11, 12, 13, 14], splits=3)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert (found.difference.pairs, found.difference.trials_a, found.difference.trials_b) == (3, 4, 6)
    assert found.difference.mean == pytest.approx((12.5 + 12 + 13) / 3 - 3.5)
    assert found.basis == "3 pairs of splits"
    assert found.notes == ()


def test_splits_that_one_model_lacks_are_left_out(results: Store, fill: Filler) -> None:
    fill("gcn", [1, 2, 3], splits=3)
    fill("gin", [11, 13], splits=3)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.notes == ("1 trials of gcn/layers=4 are left out: the other model has none on their splits",)


def test_infinite_scores_are_left_out(results: Store, fill: Filler) -> None:
    fill("gcn", [1.0, 2.0, 3.0])
    fill("gin", [2.0, 9.0, 4.5])
    trials = [replace(t, scores={"test": math.inf}) if t.scores["test"] == 9.0 else t for t in results.trials()]
    (found,) = compare(result_rows(trials), "gin", "gcn")
    assert (found.difference.trials_a, found.difference.mean) == (2, 1.25)


def test_four_seeds_against_four_can_show_a_difference(results: Store, fill: Filler) -> None:
    fill("gcn", LOW[:4])
    fill("gin", HIGH[:4])
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.difference.p == pytest.approx(2 / 70)
    assert found.verdict == "A is better"


@pytest.mark.parametrize("splits", [1, 3])
def test_too_few_trials_are_called_so_with_what_can_be_said(results: Store, fill: Filler, splits: int) -> None:
    fill("gcn", [10.0, 10.1, 9.9], splits=splits)
    fill("gin", [100.0, 99.9, 100.0], splits=splits)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "too few trials"
    assert found.difference.p_min == pytest.approx({1: 2 / 20, 3: 2 / 8}[splits])
    assert "Too few trials for this test" in found.conclusion
    assert "by Student's t excludes 0" in found.conclusion
    assert "about 1 more seeds would decide" in found.conclusion
    fill("gat", [10.0, 10.1, 9.9] * 2, splits=splits)
    fill("mlp", [100.0, 99.9, 100.0] * 2, splits=splits)
    (more,) = compare(result_rows(results.trials()), "mlp", "gat")
    assert more.verdict == "A is better"  # the advice can be followed


def test_the_correction_for_several_datasets_can_ask_for_more_than_four(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        fill("gcn", LOW[:4], dataset=dataset)
        fill("gin", HIGH[:4], dataset=dataset)
    found = compare(result_rows(results.trials()), "gin", "gcn")
    assert [one.verdict for one in found] == ["too few trials"] * 2
    assert "before correction" in found[0].conclusion


def test_few_seeds_leave_it_undecided_and_more_are_asked_for(results: Store, fill: Filler) -> None:
    fill("gcn", LOW[:4])
    fill("gin", [score + 0.4 for score in (LOW[1], LOW[0], LOW[3], LOW[2])])
    (found,) = compare(result_rows(results.trials()), "gin", "gcn", margin=0.2)
    assert found.verdict == "undecided"
    assert found.more_seeds is not None
    assert found.more_seeds > 0
    assert f"about {found.more_seeds} more seeds would decide" in found.conclusion


def test_a_wide_margin_makes_them_equivalent(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", [score + (-1) ** i * 0.01 for i, score in enumerate(LOW)])
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "equivalent"
    assert found.difference.margin == pytest.approx(0.01 * found.mean_b)


def test_p_values_of_several_datasets_are_corrected(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc", "aqsol"):
        fill("gcn", LOW, dataset=dataset)
        fill("gin", HIGH, dataset=dataset)
    found = compare(result_rows(results.trials()), "gin", "gcn")
    assert [one.dataset for one in found] == ["csl", "zinc", "aqsol"]
    assert all(one.p_holm == pytest.approx(3 / 10_000, rel=2) for one in found)
    assert len(compare(result_rows(results.trials()), "gin", "gcn", datasets=["zinc"])) == 1


def test_rows_are_named_by_encoding_and_settings(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gcn", HIGH, encoding=LAPLACIAN)
    plain, encoded = result_rows(results.trials())
    assert matches(encoded, "gcn/laplacian:20")
    assert not matches(plain, "gcn/laplacian:20")
    assert matches(plain, "gcn/none/layers=4")
    assert not matches(plain, "gcn/layers=16")
    with pytest.raises(GraphTrialError, match="is ambiguous on csl: gcn/layers=4, gcn/laplacian:20/layers=4"):
        compare([plain, encoded], "gcn", "gcn/laplacian:20")
    (found,) = compare([plain, encoded], "gcn/none", "gcn/laplacian:20")
    assert found.verdict == "B is better"


def test_models_that_were_not_tried_together_are_named(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    with pytest.raises(GraphTrialError, match=r"share neither two splits .* its models are gcn/layers=4"):
        compare(result_rows(results.trials()), "gcn", "gat")


def test_the_command_prints_a_table_and_json(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", HIGH)
    words = ["compare", "gin", "gcn", "--store", str(results.path)]
    text = CliRunner().invoke(app, words)
    assert text.exit_code == 0, text.output
    assert "A is better" in text.stdout
    (told,) = json.loads(CliRunner().invoke(app, [*words, "--json", "--test", "wilcoxon"]).stdout)
    assert told["verdict"] == "A is better"
    assert {
        "difference",
        "ci_low",
        "ci_high",
        "p",
        "p_holm",
        "effect_size",
        "p_equivalence",
        "p_min",
        "more_seeds",
    } <= set(told)
    wrong = CliRunner().invoke(app, [*words, "--test", "permutatoin"])
    assert wrong.exit_code == 2
    assert "Did you mean 'permutation'?" in wrong.stderr
