"""Records as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rich.box import HEAVY_HEAD, Box

from graphtrial.core.terminal import TableColumn, TerminalTable
from graphtrial.results.columns.column import ColumnTable

Record = TypeVar("Record")


def terminal_table(
    columns: ColumnTable[Record],
    records: Sequence[Record],
    *,
    title: str | None = None,
    caption: str | None = None,
    box: Box = HEAVY_HEAD,
) -> TerminalTable:
    """Return records as a table with the columns of the terminal."""
    records = list(records)
    shown = columns.shown("terminal", records)
    headings = (TableColumn(column.heading, column.align == "right", column.rigid, column.priority) for column in shown)
    table = TerminalTable(*headings, title=title, caption=caption, box=box)
    for record in records:
        table.add_row(*(column.cell(record) for column in shown))
    return table
