"""The cost of tuning in rows, tables and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.spec import digest
from graphtrial.results.compare import compare
from graphtrial.results.export import export
from graphtrial.results.grouping import result_rows
from graphtrial.results.tuning import TuningEffort, tuning_effort, unequal_tuning
from graphtrial.trials import Store
from graphtrial.trials.store.searches import SearchRecord, save_search

Filler = Callable[..., Any]
SCORES = [70.2, 71.1, 70.3, 71.0]


def search(number: int, configurations: int, tests: tuple[str, ...], epochs: int = 10) -> SearchRecord:
    """Return a search whose configurations have the trials 0, 1, ..."""
    declaration = {"number": number}
    return SearchRecord(
        digest(declaration)[:16],
        declaration,
        tuple((f"{trial:016x}",) for trial in range(configurations)),
        (epochs,) * configurations,
        (3600.0,) * configurations,
        0,
        tests,
    )


def effort(configurations: int, epochs: int) -> TuningEffort:
    return TuningEffort(("x",), configurations, epochs, 1.0)


@pytest.mark.parametrize(
    ("a", "b", "warning"),
    [
        (None, None, ""),
        (effort(20, 1000), effort(20, 1099), ""),
        (effort(20, 1000), effort(18, 1000), ""),
        (effort(20, 1000), effort(17, 1000), "20 against 17 configurations"),
        (effort(20, 1000), effort(20, 1120), "1000 against 1120 epochs"),
        (effort(20, 1000), None, "A was tuned and B was not"),
        (None, effort(20, 1000), "B was tuned and A was not"),
    ],
)
def test_a_comparison_warns_where_budgets_differ_by_more_than_a_tenth(
    a: TuningEffort | None, b: TuningEffort | None, warning: str
) -> None:
    assert (warning in unequal_tuning(a, b)) if warning else (unequal_tuning(a, b) == "")


def test_a_configuration_that_several_searches_tried_counts_once(results: Store, fill: Filler) -> None:
    fill("gcn", SCORES)
    trials = results.trials()
    ids = tuple(trial.id for trial in trials)
    assert tuning_effort(trials, [search(0, 3, ("f" * 16,))]) is None
    first, second = search(0, 3, ids[:1]), search(1, 5, ids, epochs=20)
    assert tuning_effort(trials, [first]) == TuningEffort((first.id,), 3, 30, 3.0)
    assert tuning_effort(trials, [first, second]) == TuningEffort((first.id, second.id), 5, 100, 5.0)


def test_tables_with_a_tuned_row_have_its_cost_and_others_do_not(results: Store, fill: Filler) -> None:
    fill("gcn", SCORES)
    fill("gin", SCORES)
    plain = result_rows(results.trials())
    for format in ("markdown", "latex"):
        assert "Tuning core-h" not in export(plain, format)
    gcn = tuple(trial.id for trial in results.trials() if trial.spec.model.name == "gcn")
    rows = result_rows(results.trials(), [search(0, 7, gcn)])
    table = export(rows, "markdown")
    heading, _, *lines = [line for line in table.splitlines() if line.startswith("|")]
    cells = [dict(zip(heading.split("|"), line.split("|"), strict=True)) for line in lines]
    assert [cell[" Tried "].strip() for cell in cells] == ["7", "-"]
    assert [cell[" Tuning epochs "].strip() for cell in cells] == ["70", "-"]
    assert [cell[" Tuning core-h "].strip() for cell in cells] == ["7.00", "-"]
    assert [row.to_dict()["tuning_epochs"] for row in rows] == [70, None]


def test_a_trial_of_a_search_is_in_no_row(results: Store, fill: Filler) -> None:
    (spec, *_) = fill("gcn", SCORES)
    results.start(replace(spec, score_test=False), "accuracy", True, {})
    assert len(results.trials()) == 5
    (row,) = result_rows(results.trials())
    assert len(row.trials) == 4


def test_compare_warns(results: Store, fill: Filler) -> None:
    ids = {model: tuple(spec.id for spec in fill(model, SCORES)) for model in ("gcn", "gin")}
    for number, (model, tried) in enumerate((("gcn", 20), ("gin", 10))):
        save_search(results, search(number, tried, ids[model]))
    result = CliRunner().invoke(app, ["compare", "gcn", "gin", "--store", str(results.path)])
    assert "tuning budgets differ by more than a tenth: 20 against 10 configurations" in result.output
    equal = [search(number, 20, ids[model]) for number, model in enumerate(("gcn", "gin"))]
    (comparison,) = compare(result_rows(results.trials(), equal), "gcn", "gin")
    assert comparison.notes == ("both were tuned",)
