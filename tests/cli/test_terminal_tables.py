"""Tables of all commands at several widths of the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from tests.helpers.filled_store import Filler, fill, results  # noqa: F401 - fixtures
from typer.testing import CliRunner

from graphtrial.cli import common
from graphtrial.cli.main import app
from graphtrial.core.spec import Component
from graphtrial.core.terminal import TerminalTable
from graphtrial.published.counts import ParameterCheck
from graphtrial.results import result_rows, terminal_tables
from graphtrial.shipped import shipped_store
from graphtrial.trials import Store

WIDTHS = (60, 80, 120, 160)
COMMANDS = [
    "params zinc gcn",
    "params --published",
    "study bgnn-v5/table-10 --dry-run",
    "list studies --only demo,bgnn-v5/table-1",
    *(f"list {kind}" for kind in ("datasets", "models", "encodings", "kernels", "protocols", "metrics", "schedules")),
    "data check csl",
    "data info csl",
    "doctor",
]
COMMANDS_ON_STORES = ["status", "show {id}", "compare gcn gin", "ranks"]


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[TerminalTable]:
    """All tables that are rendered during a test."""
    tables: list[TerminalTable] = []
    render = TerminalTable.__rich_console__

    def recorded(self: TerminalTable, *args: Any) -> Any:
        tables.append(self)
        return render(self, *args)

    monkeypatch.setattr(TerminalTable, "__rich_console__", recorded)
    return tables


def assert_complete(table: TerminalTable, width: int) -> None:
    """Assert that every number is shown whole, unless its column is named as hidden."""
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(table)
    text = console.export_text()
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    hidden = " ".join(text.split()).partition(f"Hidden at {width} columns: ")[2].partition(". A wider")[0].split(", ")
    for index, column in enumerate(table.columns):
        if (column.numeric or column.rigid) and column.heading not in hidden:
            cells = {str(cells[index]) for cells, _ in table._rows}
            assert {cell for cell in cells if cell not in text} == set(), column.heading


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_never_truncate_numbers(
    command: str, rendered: list[TerminalTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ParameterCheck("bgnn-v5", 10, "csl", "gcn", "GCN", {}, 4, 100_927, 100_927, True, {}, "", None)
    monkeypatch.setattr("graphtrial.published.counts.parameter_checks", lambda: [check])
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code in (0, 1, 3), result.output
    (table,) = rendered
    for width in WIDTHS:
        assert_complete(table, width)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS_ON_STORES)
def test_store_commands_never_truncate_numbers(
    command: str,
    rendered: list[TerminalTable],
    results: Store,  # noqa: F811
    fill: Filler,  # noqa: F811
) -> None:
    for dataset in ("csl", "zinc", "wikics-standin+links-10000"):
        encoding = Component("laplacian", {"k": 20, "sign": "random"})
        (first, *_) = fill("gcn", [99.123456, 100.0, 98.7], dataset=dataset, encoding=encoding)
        fill("gin", [12.3, 45.6, 7.8], dataset=dataset)
    result = CliRunner().invoke(app, [*command.format(id=first.id).split(), "--store", str(results.path)])
    assert result.exit_code == 0, result.output
    (table,) = rendered
    for width in WIDTHS:
        assert_complete(table, width)


@pytest.mark.slow
def test_shipped_results_never_truncate_numbers() -> None:
    for table in terminal_tables(result_rows(shipped_store().trials())):
        for width in WIDTHS:
            assert_complete(table, width)


@pytest.mark.parametrize(
    ("columns", "is_terminal", "width"),
    [("80", False, 80), ("", False, 160), ("", True, None), ("100", True, 100), ("0", False, 40), ("²", False, 160)],
)
def test_output_width_follows_terminal_or_columns(
    columns: str, is_terminal: bool, width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdout = io.StringIO()
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(stdout, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stdout", stdout)
    assert common._width() == width
