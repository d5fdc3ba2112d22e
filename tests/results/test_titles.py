"""Titles of rows, and the settings that distinguish similar ones."""

from __future__ import annotations

import csv
import io

from rich.console import Console
from tests.helpers.filled_store import Filler

from graphtrial.core.spec import Component
from graphtrial.results import markdown, result_rows, terminal_tables
from graphtrial.results.export import export
from graphtrial.results.select import matches, stored_rows
from graphtrial.results.titles import distinguishing_settings, encoding_title, label_title, row_title
from graphtrial.shipped import shipped_store
from graphtrial.trials import Store


def test_similar_rows_show_the_distinguishing_setting(results: Store, fill: Filler) -> None:
    fill("mlp-direct", [50, 51], arguments={"first_activation": True, "width": 35})
    fill("mlp-direct", [52, 53], arguments={"first_activation": False, "width": 35})
    fill("gcn", [60, 61])
    rows = result_rows(results.trials())
    assert distinguishing_settings(rows) == ["first_activation = true", "first_activation = false", ""]
    result = distinguishing_settings(rows)
    assert row_title(rows[1]) == "MLP (direct), L = 4, first_activation = false"
    console = Console(width=250, record=True, file=io.StringIO())
    for table in terminal_tables(rows):
        console.print(table)
    for text in (console.export_text(), markdown(rows), export(rows, "latex").replace(r"\_", "_")):
        assert "MLP (direct) (first_activation = true)" in text
        assert "MLP (direct) (first_activation = false)" in text
        assert "GCN (" not in text
    lines = list(csv.DictReader(io.StringIO(export(rows, "csv"))))
    assert [line["differs_in"] for line in lines] == result


def test_rows_of_other_encodings_state_the_setting_too(results: Store, fill: Filler) -> None:
    walks = Component("random-walk", {"k": 20})
    fill("grit", [50, 51], arguments={"walk_length": 1})
    fill("grit", [52, 53], arguments={"walk_length": 21})
    fill("grit", [54, 55], arguments={"walk_length": 1}, encoding=walks)
    fill("gcn", [60, 61], encoding=walks)
    rows = result_rows(results.trials())
    stated = ["walk_length = 1", "walk_length = 21", "walk_length = 1", ""]
    assert [row.differs_in for row in rows] == stated
    assert row_title(rows[2]).endswith("walk_length = 1")


def test_shipped_row_titles_are_unique() -> None:
    rows = stored_rows(shipped_store())
    seen = [(row.first.spec.dataset, row.first.spec.protocol, row.changes, row_title(row)) for row in rows]
    assert len(set(seen)) == len(rows)


def test_encoding_and_model_titles_are_formatted(results: Store, fill: Filler) -> None:
    fill(
        "gatedgcn", [50], arguments={"edge_features": True}, encoding=Component("laplacian", {"k": 8, "sign": "random"})
    )
    (row,) = result_rows(results.trials())
    assert label_title(row) == "GatedGCN-E"
    assert row_title(row) == "GatedGCN-E, Laplacian 8, L = 4"
    assert encoding_title(Component("laplacian", {"k": 8, "sign": "fixed"})) == "Laplacian 8, fixed sign"
    assert encoding_title(None) == ""
    assert matches(row, "gatedgcn-E")
    assert matches(row, "GatedGCN-E/laplacian:8")
    assert not matches(row, "GatedGCN")
