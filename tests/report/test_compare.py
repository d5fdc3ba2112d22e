"""Rows against each other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from graphtrial.cli.main import app
from graphtrial.errors import GraphTrialError
from graphtrial.report.compare import compare, matches
from graphtrial.report.rows import result_rows
from graphtrial.spec import Component
from graphtrial.studies import Store

Filler = Callable[..., Any]
HIGH = [80.1, 80.9, 80.4, 81.2, 80.6, 80.3, 80.8, 80.7]
LOW = [70.2, 71.1, 70.3, 71.0, 70.9, 70.1, 70.7, 70.6]
LAPLACIAN = Component("laplacian", {"k": 20, "sign": "random"})


def test_a_clear_difference_is_called_so(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", HIGH)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "A is better"
    assert found.found.p == pytest.approx(2 / 2**8)
    assert (found.seeds, found.splits, found.more_seeds) == (8, 1, 0)
    assert found.words.startswith("gin/layers=4 is better than gcn/layers=4 by ")


def test_where_lower_is_better_the_lower_one_wins(results: Store, fill: Filler) -> None:
    fill("gcn", LOW, higher_is_better=False)
    fill("gin", HIGH, higher_is_better=False)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "B is better"
    assert found.found.mean > 0


def test_pairs_are_those_of_the_same_split_and_seed(results: Store, fill: Filler) -> None:
    fill("gcn", [1, 2, 3, 4, 5, 6], splits=3)
    fill("gin", [11, 12, 13, 14], splits=3)
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.found.n == 4
    assert found.found.mean == 10
    assert found.notes == ("2 trials of gcn/layers=4 have no partner and are left out",)


def test_infinite_scores_have_no_partner(results: Store, fill: Filler) -> None:
    fill("gcn", [1.0, 2.0, 3.0])
    fill("gin", [2.0, math.inf, 4.5])
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert (found.found.n, found.found.mean) == (2, 1.25)


def test_few_seeds_leave_it_undecided_and_more_are_asked_for(results: Store, fill: Filler) -> None:
    fill("gcn", LOW[:4])
    fill("gin", [score + 1 for score in (LOW[1], LOW[0], LOW[3], LOW[2])])
    (found,) = compare(result_rows(results.trials()), "gin", "gcn", margin=0.2)
    assert found.verdict == "undecided"
    assert found.more_seeds is not None
    assert found.more_seeds > 0
    assert f"about {found.more_seeds} more seeds would settle it" in found.words


def test_a_wide_margin_makes_them_equivalent(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gin", [score + (-1) ** i * 0.01 for i, score in enumerate(LOW)])
    (found,) = compare(result_rows(results.trials()), "gin", "gcn")
    assert found.verdict == "equivalent"
    assert found.found.margin == pytest.approx(0.01 * found.mean_b)


def test_p_values_of_several_datasets_are_corrected(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc", "aqsol"):
        fill("gcn", LOW, dataset=dataset)
        fill("gin", HIGH, dataset=dataset)
    found = compare(result_rows(results.trials()), "gin", "gcn")
    assert [one.dataset for one in found] == ["csl", "zinc", "aqsol"]
    assert all(one.p_holm == pytest.approx(3 * 2 / 2**8) for one in found)
    assert len(compare(result_rows(results.trials()), "gin", "gcn", datasets=["zinc"])) == 1


def test_rows_are_named_by_encoding_and_settings(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    fill("gcn", HIGH, encoding=LAPLACIAN)
    plain, encoded = result_rows(results.trials())
    assert matches(encoded, "gcn/laplacian:20")
    assert not matches(plain, "gcn/laplacian:20")
    assert matches(plain, "gcn/none/layers=4")
    assert not matches(plain, "gcn/layers=16")
    with pytest.raises(GraphTrialError, match="may mean several rows on csl: gcn/layers=4, gcn/laplacian:20/layers=4"):
        compare([plain, encoded], "gcn", "gcn/laplacian:20")
    (found,) = compare([plain, encoded], "gcn/none", "gcn/laplacian:20")
    assert found.verdict == "B is better"


def test_models_that_were_not_tried_together_are_named(results: Store, fill: Filler) -> None:
    fill("gcn", LOW)
    with pytest.raises(GraphTrialError, match=r"share no two pairs .* the models in it are gcn/layers=4"):
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
    assert {"difference", "low", "high", "p", "p_holm", "effect", "p_equivalence", "more_seeds"} <= set(told)
    wrong = CliRunner().invoke(app, [*words, "--test", "permutatoin"])
    assert wrong.exit_code == 2
    assert "Did you mean 'permutation'?" in wrong.stderr
