"""Tables for the terminal: numbers are never shortened, at any width."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from graphtrial.core.terminal import TableColumn, TerminalTable

SOURCE = Path(__file__).parents[2] / "src" / "graphtrial"
words = st.text("abcdefgh-", min_size=1, max_size=20)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)
numbers = st.floats(-1e6, 1e6).map("{:.3f}±0.001".format)


def render(table: TerminalTable, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(table)
    return console.export_text()


@given(data=st.data(), width=st.integers(40, 200))
def test_numbers_are_shown_or_their_column_is_listed(data: st.DataObject, width: int) -> None:
    columns = [TableColumn("name")]
    for index in range(data.draw(st.integers(0, 8), label="columns")):
        columns.append(TableColumn(f"c{index}", data.draw(st.booleans()), data.draw(st.integers(0, 2))))
    table = TerminalTable(*columns)
    rows = [[data.draw(numbers if column.numeric else texts) for column in columns] for _ in range(3)]
    for row in rows:
        table.add_row(*row)
    text = render(table, width)
    shown, _, hidden = text.partition(f"Hidden at {width} columns: ")
    names = " ".join(hidden.split()).partition(".")[0].split(", ")
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    for index, column in enumerate(columns):
        if column.heading in names:
            assert column.priority
        elif column.numeric:
            assert all(row[index] in shown for row in rows)


def test_wide_terminals_show_everything_in_one_line_per_row() -> None:
    table = TerminalTable(TableColumn("model"), TableColumn("score", numeric=True, priority=1))
    table.add_row("a model with a long name", "0.123")
    assert "a model with a long name │ 0.123" in render(table, 80)


def test_columns_are_hidden_by_priority() -> None:
    table = TerminalTable(
        TableColumn("model"), *(TableColumn(f"column{i}", numeric=True, priority=i) for i in range(3))
    )
    table.add_row("gcn", *["1" * 12] * 3)
    assert "Hidden" not in render(table, 60)
    assert "Hidden at 50 columns: column2. " in render(table, 50)
    assert "Hidden at 36 columns: column1, column2." in " ".join(render(table, 36).split())


def test_table_without_optional_columns_is_split() -> None:
    table = TerminalTable(TableColumn("model"), *(TableColumn(f"dataset{i}", numeric=True) for i in range(12)))
    table.add_row("gcn", *(f"{i}.123456" for i in range(12)))
    text = render(table, 60)
    assert text.count("gcn") == text.count("model") > 1
    assert all(f"{i}.123456" in text for i in range(12))


def test_cells_are_plain_text() -> None:
    table = TerminalTable(TableColumn("model"), title="[bold]title", caption="[red]caption")
    table.add_row("[red]:smile:")
    text = render(table, 80)
    assert all(part in text for part in ("[bold]title", "[red]caption", "[red]:smile:"))


def test_row_has_a_cell_per_column() -> None:
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        TerminalTable(TableColumn("model")).add_row("a", "b")


def test_only_core_terminal_renders_tables() -> None:
    files = [file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py") if "rich.table" in file.read_text()]
    assert files == ["core/terminal.py"]
