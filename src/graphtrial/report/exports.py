"""Tables of pages as Markdown, LaTeX, CSV and JSON files."""

from __future__ import annotations

import json

from graphtrial.report.grid import Cell, Grid
from graphtrial.results.export.markup import (
    BOLD,
    BOOKTABS,
    UNDERLINED,
    Align,
    csv_text,
    escape_latex,
    escape_markdown,
    is_number,
    latex_table,
    markdown_table,
)

FORMATS = {"md": "Markdown", "tex": "LaTeX", "csv": "CSV", "json": "JSON"}
MAX_LATEX_COLUMNS = 8
"""The width of a printed page."""


def export(grid: Grid, kind: str) -> str:
    """Return a table in one of the formats."""
    return {"md": _markdown, "tex": _latex, "csv": _csv, "json": _json}[kind](grid)


def _aligns(grid: Grid) -> list[Align]:
    return ["right" if column.number else "left" for column in grid.columns]


def _markdown(grid: Grid) -> str:
    table = markdown_table(grid.headers, _aligns(grid), grid.texts)
    return "\n".join([f"## {escape_markdown(grid.title)}", "", table, "", escape_markdown(grid.caption), ""])


def _latex(grid: Grid) -> str:
    """Return the first columns for booktabs: the best value of a column bold, the second underlined."""
    headings, rest = grid.headers[:MAX_LATEX_COLUMNS], grid.headers[MAX_LATEX_COLUMNS:]
    note = [f"% the csv and json of this table also have: {escape_latex(', '.join(rest))}"] if rest else []
    table = latex_table(
        escape_latex(grid.title),
        f"tab:{grid.name}",
        map(escape_latex, headings),
        _aligns(grid)[:MAX_LATEX_COLUMNS],
        ([_latex_cell(cell) for cell in row[:MAX_LATEX_COLUMNS]] for row in grid.rows),
    )
    return "\n".join([BOOKTABS, *note, table])


def _latex_cell(cell: Cell) -> str:
    return {"best": BOLD, "second": UNDERLINED}.get(cell.mark, "%s") % escape_latex(cell.full_text)


def _csv(grid: Grid) -> str:
    return csv_text(grid.headers, grid.texts)


def _json(grid: Grid) -> str:
    rows = [{column: _value(cell) for column, cell in zip(grid.headers, row, strict=True)} for row in grid.rows]
    return json.dumps({"title": grid.title, "caption": grid.caption, "rows": rows}, ensure_ascii=False)


def _value(cell: Cell) -> str | float | None:
    if not cell.text:
        return None
    return cell.sort if isinstance(cell.sort, int | float) and is_number(cell.full_text) else cell.full_text
