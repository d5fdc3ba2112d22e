"""Any table of a page as Markdown, LaTeX, CSV and JSON, in files beside the page."""

from __future__ import annotations

import csv
import io
import json

from graphtrial.report.grid import Cell, Grid
from graphtrial.results.export import MARKS, escape_latex
from graphtrial.results.tables import escape_markdown

FORMATS = {"md": "Markdown", "tex": "LaTeX", "csv": "CSV", "json": "JSON"}


def export(grid: Grid, kind: str) -> str:
    """Return the text of a table in one of the formats."""
    return {"md": _markdown, "tex": _latex, "csv": _csv, "json": _json}[kind](grid)


def _markdown(grid: Grid) -> str:
    rule = "|" + "".join(" ---: |" if column.number else " --- |" for column in grid.columns)
    lines = [_line(grid.headers), rule, *(_line(texts) for texts in grid.texts)]
    return "\n".join([f"## {escape_markdown(grid.title)}", "", *lines, "", escape_markdown(grid.caption), ""])


def _line(texts: list[str]) -> str:
    return "| " + " | ".join(map(escape_markdown, texts)) + " |"


MOST_COLUMNS = 8
"""A printed page has room for no more."""


def _latex(grid: Grid) -> str:
    """Return the first columns of a table for booktabs: the best value of a column bold, the second underlined."""
    columns, rest = grid.columns[:MOST_COLUMNS], grid.headers[MOST_COLUMNS:]
    shape = "".join("r" if column.number else "l" for column in columns)
    head = " & ".join(map(escape_latex, grid.headers[:MOST_COLUMNS]))
    body = [" & ".join(map(_latex_cell, row[:MOST_COLUMNS])) + r" \\" for row in grid.rows]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            *([f"% the csv and json of this table also have: {escape_latex(', '.join(rest))}"] if rest else []),
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(grid.title)}}}",
            rf"\label{{tab:{grid.name}}}",
            rf"\begin{{tabular}}{{{shape}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _latex_cell(cell: Cell) -> str:
    place = {"best": 1, "second": 2}.get(cell.mark)
    return MARKS.get(place, "%s") % escape_latex(cell.full_text)  # type: ignore[arg-type]


def _csv(grid: Grid) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(grid.headers)
    writer.writerows([_inert(text) for text in texts] for texts in grid.texts)
    return stream.getvalue()


def _inert(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula; numbers stay numbers."""
    if text[:1] in ("=", "@", "\t", "\r") or (text[:1] in "+-" and not _is_number(text)):
        return "'" + text if text else text
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json(grid: Grid) -> str:
    rows = [{column: _value(cell) for column, cell in zip(grid.headers, row, strict=True)} for row in grid.rows]
    return json.dumps({"title": grid.title, "caption": grid.caption, "rows": rows}, indent=1, ensure_ascii=False)


def _value(cell: Cell) -> str | float | None:
    if not cell.text:
        return None
    return cell.sort if isinstance(cell.sort, int | float) and _is_number(cell.full_text) else cell.full_text
