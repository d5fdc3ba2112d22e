"""One entry in the table of columns reaches every output, and the documentation lists every entry."""

from __future__ import annotations

import csv
import io
import json
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from graphtrial.report import write_site
from graphtrial.report.row_page import RowPage
from graphtrial.report.row_table import row_grid
from graphtrial.results import ResultRow, result_rows, terminal_tables
from graphtrial.results.columns import EVERYWHERE, LATEX, Column, ColumnTable, Output
from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS
from graphtrial.results.columns.formats import number
from graphtrial.results.columns.ranks import rank_columns
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.columns.trials import TRIAL_COLUMNS
from graphtrial.results.export import export
from graphtrial.results.statistics.ranked_rows import rank_rows
from graphtrial.trials import Store

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def median() -> Iterator[Column[ResultRow]]:
    column: Column[ResultRow] = Column(
        "test_median",
        "Median",
        "median test score over trials",
        lambda row: statistics.median(trial.scores["test"] for trial in row.trials),
        number(".2f"),
        outputs=EVERYWHERE | LATEX,
    )
    ROW_COLUMNS.add(column)
    yield column
    ROW_COLUMNS.remove(column.name)


def test_new_column_reaches_every_output(
    median: Column[ResultRow], results: Store, fill: Callable[..., Any], tmp_path: Path
) -> None:
    fill("gcn", [70.0, 71.25, 75.0])
    rows = result_rows(results.trials())
    console = Console(width=300, record=True, file=io.StringIO())
    for table in terminal_tables(rows):
        console.print(table)
    for text in (console.export_text(), export(rows, "markdown"), export(rows, "latex")):
        assert "Median" in text
        assert "71.25" in text
    (line,) = csv.DictReader(io.StringIO(export(rows, "csv")))
    assert float(line["test_median"]) == 71.25
    assert json.loads(export(rows, "json"))[0]["test_median"] == 71.25
    frame = pytest.importorskip("pandas") and rows.to_pandas()
    assert frame["test_median"].tolist() == [71.25]
    write_site(results, tmp_path / "site")
    page = (tmp_path / "site" / "datasets" / "csl.html").read_text(encoding="utf-8")
    assert 'title="median test score over trials">Median</th>' in page
    assert ">71.25</td>" in page
    for kind in ("md", "csv", "json"):
        exported = (tmp_path / "site" / "tables" / f"csl-0.{kind}").read_text(encoding="utf-8")
        assert "Median" in exported
        assert "71.25" in exported


def test_the_device_is_shown_where_one_is_not_the_cpu(results: Store, fill: Callable[..., Any]) -> None:
    fill("gcn", [70.0, 71.0])
    fill("gin", [60.0, 61.0])
    plain = result_rows(results.trials())
    on_gpu = {"device": "cuda", "gpu": "NVIDIA A100"}
    trials = [replace(t, environment=on_gpu) if t.spec.model.name == "gin" else t for t in results.trials()]
    for rows, shown in ((plain, False), (result_rows(trials), True)):
        console = Console(width=300, record=True, file=io.StringIO())
        for table in terminal_tables(rows):
            console.print(table)
        grid = row_grid("t", "t", [RowPage(row) for row in rows], "")
        headings = grid.headers
        assert ("Device" in console.export_text()) == shown
        assert ("| Device |" in export(rows, "markdown")) == shown
        assert ("Device" in headings) == shown
        devices = [entry["device"] for entry in json.loads(export(rows, "json"))]
        assert devices == ["cpu", "cuda (NVIDIA A100)" if shown else "cpu"]
        if shown:
            assert [row[headings.index("Device")].text for row in grid.rows] == devices


def test_duplicate_column_name_raises() -> None:
    column: Column[int] = Column("x", "X", "x", lambda x: x)
    with pytest.raises(ValueError, match="'x'"):
        ColumnTable([column, column])


def test_ranks_show_scores_in_the_terminal_and_ranks_on_the_site(results: Store, fill: Callable[..., Any]) -> None:
    for dataset, scores in (("csl", [70.0, 71.0]), ("zinc", [0.25, 0.5])):
        fill("gcn", scores, dataset=dataset)
        fill("gin", [2 * score for score in scores], dataset=dataset)
    ranks = rank_rows(result_rows(results.trials()))
    columns = rank_columns(ranks.datasets)

    def table(output: Output) -> list[list[str]]:
        shown = columns.shown(output)
        return [[c.heading for c in shown], *([c.cell(model) for c in shown] for model in ranks.ranked_models)]

    assert table("terminal") == [
        ["Model", "Mean rank", "CSL", "ZINC"],
        ["gin/layers=4", "1.00", "141.000", "0.750"],
        ["gcn/layers=4", "2.00", "70.500", "0.375"],
    ]
    assert table("site")[1:] == [["gin/layers=4", "1.00", "1", "1"], ["gcn/layers=4", "2.00", "2", "2"]]


def test_latex_has_at_most_eight_columns() -> None:
    assert len(ROW_COLUMNS.shown("latex")) <= 8
    assert all("markdown" in column.outputs for column in ROW_COLUMNS.shown("latex"))


def test_csv_names_are_unique() -> None:
    for table in (ROW_COLUMNS, TRIAL_COLUMNS, COMPARISON_COLUMNS):
        names = table.flat_names()  # type: ignore[attr-defined]
        assert len(set(names)) == len(names)


def test_documentation_of_json_lists_every_column() -> None:
    text = (DOCS / "json.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.M)
    assert listed[: len(ROW_COLUMNS.shown("json"))] == [(c.name, c.description) for c in ROW_COLUMNS.shown("json")]
    compared = text.partition("`graphtrial compare A B --json`")[2].partition("`graphtrial ranks --json`")[0]
    assert {column.name for column in COMPARISON_COLUMNS.shown("json")} <= set(re.findall(r"`(\w+)`", compared))
    status = text.partition("`graphtrial status --json`")[2].partition("`graphtrial show")[0]
    assert {column.name for column in TRIAL_COLUMNS.shown("json")} <= set(re.findall(r"`(\w+)`", status))


def test_documentation_of_the_report_lists_every_column() -> None:
    text = (DOCS / "report.md").read_text(encoding="utf-8").partition("\n## Columns\n")[2].partition("\n## ")[0]
    shown = [column for column in ROW_COLUMNS if {"site", "markdown"} & column.outputs]
    expected = list(dict.fromkeys((column.heading, column.description) for column in shown))
    assert re.findall(r"^\| `(.+?)` \| (.*) \|$", text, re.M) == expected
