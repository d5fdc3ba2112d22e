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
from graphtrial.results.compare import compare, compare_rows, corrected
from graphtrial.results.grouping import result_rows
from graphtrial.results.select import distinct_names, matches
from graphtrial.trials import Store

Filler = Callable[..., Any]
HIGH = [80.1, 80.9, 80.4, 81.2, 80.6, 80.3, 80.8, 80.7]
LOW = [70.2, 71.1, 70.3, 71.0, 70.9, 70.1, 70.7, 70.6]
LAPLACIAN = Component("laplacian", {"k": 20, "sign": "random"})


def test_clear_difference_is_significant(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", HIGH)
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert actual.verdict == "A is better"
    assert actual.difference.p == pytest.approx(2 / math.comb(16, 8), abs=1e-4)  # sampled
    assert actual.difference.design == "independent"
    assert (actual.seeds, actual.splits, actual.more_seeds) == (8, 1, 0)
    assert actual.conclusion.startswith("gin/layers=4 is better than gcn/layers=4 by ")


def test_lower_score_wins_where_lower_is_better(results: Store, fill: Filler) -> None:
    fill("gcn", LOW, higher_is_better=False)
    fill("gin", HIGH, higher_is_better=False)
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert actual.verdict == "B is better"
    assert actual.difference.mean > 0


def test_pairs_are_splits_and_seeds_are_averaged(results: Store, fill: Filler) -> None:
    fill("gcn", [1, 2, 3, 4, 5, 6], splits=3)
    fill("gin", [11, 12, 13, 14], splits=3)
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert (actual.difference.pairs, actual.difference.trials_a, actual.difference.trials_b) == (3, 4, 6)
    assert actual.difference.mean == pytest.approx((12.5 + 12 + 13) / 3 - 3.5)
    assert actual.basis == "3 pairs of splits"
    assert actual.notes == ()


def test_splits_without_both_models_are_excluded(results: Store, fill: Filler) -> None:
    fill("gcn", [1, 2, 3], splits=3)
    fill("gin", [11, 13], splits=3)
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert actual.notes == ("1 trials of gcn/layers=4 are left out: the other model has none on their splits",)


def test_infinite_scores_are_excluded(results: Store, fill: Filler) -> None:
    fill("gcn", [1.0, 2.0, 3.0])
    fill("gin", [2.0, 9.0, 4.5])
    trials = [replace(t, scores={"test": math.inf}) if t.scores["test"] == 9.0 else t for t in results.trials()]
    (actual,) = compare(result_rows(trials), "gin", "gcn")
    assert (actual.difference.trials_a, actual.difference.mean) == (2, 1.25)


def test_four_seeds_against_four_can_show_a_difference(results: Store, fill: Filler) -> None:
    fill("gcn", LOW[:4])
    fill("gin", HIGH[:4])
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert actual.difference.p == pytest.approx(2 / 70)
    assert actual.verdict == "A is better"


@pytest.mark.parametrize("splits", [1, 3])
def test_too_few_trials_verdict(results: Store, fill: Filler, splits: int) -> None:
    fill("gcn", [10.0, 10.1, 9.9], splits=splits)
    fill("gin", [100.0, 99.9, 100.0], splits=splits)
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert actual.verdict == "too few trials"
    assert actual.difference.p_min == pytest.approx({1: 2 / 20, 3: 2 / 8}[splits])
    assert "Too few trials for this test" in actual.conclusion
    assert "by Student's t excludes 0" in actual.conclusion
    assert "about 1 more seed would decide" in actual.conclusion
    fill("gat", [10.0, 10.1, 9.9] * 2, splits=splits)
    fill("mlp", [100.0, 99.9, 100.0] * 2, splits=splits)
    (more,) = compare(result_rows(results.trials()), "mlp", "gat")
    assert more.verdict == "A is better"  # the advice can be followed


def test_an_open_verdict_asks_for_at_least_one_more_seed(results: Store, fill: Filler) -> None:
    fill("gcn", [50.0, 60.0, 52.0, 58.0])
    fill("gin", [51.0, 55.0, 60.0, 52.0])
    (actual,) = compare(result_rows(results.trials()), "gcn", "gin")
    enough = replace(actual, more_seeds=0)
    assert enough.is_open
    assert enough.further_seeds == 1
    assert "about 1 more seed would decide" in enough.conclusion


def test_holm_correction_can_require_more_seeds(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        fill("gcn", LOW[:4], dataset=dataset)
        fill("gin", HIGH[:4], dataset=dataset)
    actual = compare(result_rows(results.trials()), "gin", "gcn")
    assert [one.verdict for one in actual] == ["too few trials"] * 2
    assert "before correction" in actual[0].conclusion


def test_further_seeds_are_those_of_the_corrected_level(results: Store, fill: Filler) -> None:
    """Five trials against five cannot be significant among seven comparisons: 7 x 2 / 252 is above 0.05."""
    fill("gcn", LOW[:4])
    fill("gin", HIGH[:4])
    a, b = result_rows(results.trials())
    one = compare_rows(a, b)
    assert one is not None
    assert one.more_seeds == 0
    seven = corrected([(a, b, one)] * 7)
    assert {(each.verdict, each.further_seeds) for each in seven} == {("too few trials", 2)}


def test_few_seeds_are_undecided(results: Store, fill: Filler) -> None:
    fill("gcn", LOW[:4])
    fill("gin", [score + 0.4 for score in (LOW[1], LOW[0], LOW[3], LOW[2])])
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn", margin=0.2)
    assert actual.verdict == "undecided"
    assert actual.more_seeds is not None
    assert actual.more_seeds > 0
    assert f"about {actual.more_seeds} more seeds would decide" in actual.conclusion


def test_significant_difference_with_a_wide_interval_stays_open(results: Store, fill: Filler) -> None:
    fill("gcn", LOW[:4])
    fill("gin", [score + 0.4 for score in (LOW[1], LOW[0], LOW[3], LOW[2])])
    (undecided,) = compare(result_rows(results.trials()), "gin", "gcn", margin=0.2)
    assert "neither differ significantly" in undecided.conclusion
    actual = replace(undecided, p_holm=0.001)
    assert not actual.difference.excludes_zero
    assert actual.verdict == "undecided"
    assert "differ by the test, but the confidence interval includes 0" in actual.conclusion
    assert "neither differ" not in actual.conclusion


def test_wide_margin_gives_equivalence(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", [score + (-1) ** i * 0.01 for i, score in enumerate(LOW)])
    (actual,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert actual.verdict == "equivalent"
    assert actual.difference.margin == pytest.approx(0.01 * actual.mean_b)


def test_p_values_of_several_datasets_are_corrected(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc", "aqsol"):
        fill("gcn", LOW, dataset=dataset)
        fill("gin", HIGH, dataset=dataset)
    actual = compare(result_rows(results.trials()), "gin", "gcn")
    assert [one.dataset for one in actual] == ["csl", "zinc", "aqsol"]
    assert all(one.p_holm == pytest.approx(3 / 10_000, rel=2) for one in actual)
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
    (actual,) = compare([plain, encoded], "gcn/none", "gcn/laplacian:20")
    assert actual.verdict == "B is better"


def test_of_several_rules_rows_of_the_same_are_compared(results: Store, fill: Filler) -> None:
    rules = {"stopping.max_epochs": 3}
    fill("gcn", LOW)
    fill("gin", HIGH)
    fill("gcn", HIGH, rules=rules)
    fill("gin", LOW, rules=rules)
    rows = result_rows(results.trials())
    own, changed = compare(rows, "gin", "gcn")
    assert (own.verdict, changed.verdict) == ("A is better", "B is better")
    assert own.notes == ()
    assert changed.notes == ("both have changed rules: stopping.max_epochs = 3",)
    (named,) = compare(rows, "gin/stopping.max_epochs=3", "gcn/stopping.max_epochs=3")
    assert named.difference == changed.difference
    (across,) = compare(rows, "gin/stopping.max_epochs=1000", "gin/stopping.max_epochs=3")
    assert across.a == "gin/layers=4/stopping.max_epochs=1000"
    assert across.b == "gin/layers=4/stopping.max_epochs=3"
    assert any("rules differ" in note for note in across.notes)


def test_ambiguous_rows_are_listed_by_names_that_tell_them_apart(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    for walks in (1, 21):
        fill("grit", HIGH, arguments={"walk_length": walks})
        fill("grit", HIGH, arguments={"walk_length": walks}, rules={"stopping.max_epochs": 3})
    rows = result_rows(results.trials())
    with pytest.raises(GraphTrialError, match="is ambiguous on csl") as error:
        compare(rows, "grit", "gcn")
    listed = str(error.value).partition("csl: ")[2].partition(". Add")[0].split(", ")
    assert listed == ["grit/layers=4/walk_length=1", "grit/layers=4/walk_length=21"]
    names = distinct_names(rows)
    assert [[row for row in rows if matches(row, name)] for name in names] == [[row] for row in rows]
    assert "grit/layers=4/walk_length=21/stopping.max_epochs=3" in names


def test_models_without_common_datasets_raise(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", LOW[:1])
    with pytest.raises(GraphTrialError, match=r"share neither two splits"):
        compare(result_rows(results.trials()), "gcn", "gin")
    with pytest.raises(GraphTrialError, match=r"no row is called 'gcnn'. Did you mean 'gcn'\? The models are gcn"):
        compare(result_rows(results.trials()), "gcnn", "gin")


def test_models_under_other_protocols_raise_with_both(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", LOW, protocol="modern/cosine@1")
    with pytest.raises(GraphTrialError, match=r"'gcn' has trials of csl under bgnn-v5/csl, 'gin' under modern/cosine"):
        compare(result_rows(results.trials()), "gcn", "gin", datasets=["csl"])


def test_a_model_by_path_is_found_by_its_last_word(results: Store, fill: Filler) -> None:
    fill("torch_geometric.nn.models:GIN", LOW)
    (row,) = result_rows(results.trials())
    assert matches(row, "torch_geometric.nn.models:GIN")
    assert matches(row, "GIN")
    assert not matches(row, "models")


def test_command_prints_a_table_and_json(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", HIGH)
    words = ["compare", "gin", "gcn", "--store", str(results.path)]
    text = CliRunner().invoke(app, words)
    assert text.exit_code == 0, text.output
    assert "A is better" in text.stdout
    (result,) = json.loads(CliRunner().invoke(app, [*words, "--json", "--test", "wilcoxon"]).stdout)
    assert result["verdict"] == "A is better"
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
    } <= set(result)
    wrong = CliRunner().invoke(app, [*words, "--test", "permutatoin"])
    assert wrong.exit_code == 2
    assert "Did you mean 'permutation'?" in wrong.stderr
