"""Tables for papers and scripts."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.results.export import export
from graphtrial.results.export.markup import escape_latex
from graphtrial.results.export.tables import dense_ranks
from graphtrial.results.grouping import result_rows
from graphtrial.results.select import best_first, rows_of
from graphtrial.trials import Store

Filler = Callable[..., Any]


@pytest.fixture
def filled(results: Store, fill: Filler) -> Store:
    fill("gcn", [70.0, 71.0])
    fill("g_n&<b>", [90.0, 91.0])
    fill("gin", [80.0, 81.0])
    fill("=cmd()", [10.0, 10.0])
    return results


def test_latex_has_booktabs_rules_the_best_bold_and_the_second_underlined(filled: Store) -> None:
    text = export(result_rows(filled.trials()), "latex")
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 1
    assert r"over trials ($n = 2$)" in text
    assert r"\textbf{90.500$\pm$0.707}" in text
    assert r"\underline{80.500$\pm$0.707}" in text
    assert r"g\_n\&\textless{}b\textgreater{}" in text
    body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
    assert columns is not None
    assert all(len(re.findall(r"(?<!\\)&", line)) == len(columns[1]) - 1 for line in body)
    assert len(body) == 4


def test_leading_bracket_is_not_a_latex_option(results: Store, fill: Filler) -> None:
    fill("gcn", [70.0, 71.0])
    fill("[3pt]", [60.0, 61.0])
    assert "\n{}[3pt] & " in export(result_rows(results.trials()), "latex")


def test_ranks_follow_metric_direction_and_ties_share_a_rank(results: Store, fill: Filler) -> None:
    fill("a", [1.0], higher_is_better=False)
    fill("b", [0.5], higher_is_better=False)
    fill("c", [0.5], higher_is_better=False)
    fill("d", [2.0], higher_is_better=False)
    assert dense_ranks(result_rows(results.trials())) == [2, 1, 1, 3]


def test_csv_has_numbers_in_full_and_no_formulas(filled: Store) -> None:
    lines = list(csv.DictReader(io.StringIO(export(result_rows(filled.trials()), "csv"))))
    assert [float(line["test_mean"]) for line in lines] == [70.5, 90.5, 80.5, 10.0]
    assert lines[3]["model"] == "'=cmd()"
    assert float(lines[0]["test_ci_low"]) < 70.5 < float(lines[0]["test_ci_high"])
    assert lines[0]["verdict_kind"]


def test_json_and_markdown_match_the_report(filled: Store) -> None:
    rows = result_rows(filled.trials())
    assert [row["model"] for row in json.loads(export(rows, "json"))] == ["gcn", "g_n&<b>", "gin", "=cmd()"]
    assert "| GCN | none |" in export(rows, "markdown")
    with pytest.raises(GraphTrialError, match="Did you mean 'latex'"):
        export(rows, "latx")


def test_latex_output_is_escaped() -> None:
    assert escape_latex("a_b%{}$#~^\\|±") == (
        r"a\_b\%\{\}\$\#\textasciitilde{}\textasciicircum{}\textbackslash{}\textbar{}$\pm$"
    )


def test_command_exports_a_dataset_a_study_or_all(filled: Store, tmp_path: Path) -> None:
    words = ["export", "--store", str(filled.path)]
    built = CliRunner().invoke(app, [*words, "csl", "--format", "csv"])
    assert built.exit_code == 0, built.output
    assert built.stdout == CliRunner().invoke(app, [*words, "--format", "csv"]).stdout
    file = tmp_path / "table.tex"
    assert CliRunner().invoke(app, [*words, "csl", "--format", "latex", "--out", str(file)]).exit_code == 0
    assert r"\toprule" in file.read_text(encoding="utf-8")
    unknown = CliRunner().invoke(app, [*words, "clsl"])
    assert unknown.exit_code == 2
    assert "Did you mean 'csl'?" in unknown.stderr
    empty = CliRunner().invoke(app, [*words, "demo"])
    assert "no trial of demo" in empty.stderr


def test_rows_are_sorted_by_score(results: Store, fill: Filler) -> None:
    fill("gcn", [70.0, 71.0])
    fill("gin", [80.0, 81.0])
    (tested,) = fill("mlp", [10.0])
    results.start(dataclasses.replace(tested, encoding=Component("laplacian", {"k": 20})), "accuracy", True, {})
    rows = result_rows(results.trials())
    assert [row.name for row in best_first(rows)] == [
        "gin/layers=4",
        "gcn/layers=4",
        "mlp/layers=4",
        "mlp/laplacian:20/layers=4",
    ]
    assert best_first(reversed(rows)) == best_first(rows)
    assert rows_of(results, "all") == best_first(rows)


def test_rows_are_sorted_ascending_where_lower_is_better(results: Store, fill: Filler) -> None:
    for name, score in (("a", 1.0), ("b", 0.5), ("c", 2.0)):
        fill(name, [score], higher_is_better=False)
    assert [row.label for row in best_first(result_rows(results.trials()))] == ["b", "a", "c"]
