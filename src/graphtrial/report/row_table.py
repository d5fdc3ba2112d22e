"""Tables of result rows on dataset, model and paper pages, from the columns of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphtrial.report.addresses import dataset_page
from graphtrial.report.grid import Cell, Grid, GridColumn, best_two
from graphtrial.report.row_page import RowPage
from graphtrial.results.columns.column import Column
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.chance import is_at_chance
from graphtrial.results.statistics.summary import PLUS_MINUS, Summary
from graphtrial.results.titles import encoding_title
from graphtrial.trials.store import TrialRecord

CAPTION = (
    "Best test score bold, second best underlined. "
    + PLUS_MINUS
    + " Times are those of one thread; Total is per trial. Published: the test score as printed in the paper."
)
SECOND_LINE = {"test_ci", "total_hours"}
"""Columns on a second line in the cell of the column before."""
STICKY = {"verdict"}
OF_A_TABLE = {"dataset", "protocol"}
"""Columns whose values the title of a table has."""
FIRST = (
    "dataset",
    "protocol",
    "label",
    "encoding",
    "layers",
    "params",
    "test",
    "test_ci",
    "published",
    "train",
    "statuses",
)
"""Order of the columns on a page; the others follow as registered, the verdict at the end."""


def row_grid(name: str, title: str, rows: Sequence[RowPage], root: str, *, with_dataset: bool = False) -> Grid:
    """Return a table with one line per row, without empty columns.

    `with_dataset` for rows of several datasets and protocols, which have columns of their own.
    """
    marks = best_two(
        [None if with_dataset or page.test is None or is_at_chance(page.row) else page.test.mean for page in rows],
        rows[0].row.first.higher_is_better,
    )
    shown = ROW_COLUMNS.shown("site", [page.row for page in rows])
    columns = [column for column in shown if with_dataset or column.name not in OF_A_TABLE]
    columns.sort(key=lambda column: (column.name == "verdict", (*FIRST, column.name).index(column.name)))
    cells = [
        [row_cell(column.name, page, root, mark) for column in columns] for page, mark in zip(rows, marks, strict=True)
    ]
    filled = [i for i in range(len(columns)) if any(row[i].text for row in cells)]
    headings = tuple(grid_column(columns[i].name) for i in filled)
    return Grid(name, title, headings, [[row[i] for i in filled] for row in cells], CAPTION)


def grid_column(name: str, heading: str | None = None) -> GridColumn:
    """Return a column of rows for a page."""
    column = ROW_COLUMNS[name]
    return GridColumn(
        column.heading if heading is None else heading,
        number=column.align == "right",
        hint=column.description,
        under=name in SECOND_LINE,
        keep=name in STICKY,
    )


def row_cell(name: str, page: RowPage, root: str = "", mark: str = "") -> Cell:
    """Return the cell of a column: text and sort key of the column, links and tooltips of the page."""
    if name in _CELLS:
        return _CELLS[name](page, root, mark)
    return plain_cell(ROW_COLUMNS[name], page.row)


def plain_cell(column: Column[Any], record: Any, mark: str = "") -> Cell:
    """Return the cell of any column by its text and value; empty where the value is missing."""
    text = column.cell(record)
    return (
        Cell("")
        if text == column.missing and not column.optional
        else Cell(text, sort=_sort_key(column.value(record)), mark=mark)
    )


def trial_headings(columns: Sequence[Column[TrialRecord]]) -> tuple[GridColumn, ...]:
    """Return columns of trials for a page."""
    return tuple(GridColumn(c.heading, number=c.align == "right", hint=c.description) for c in columns)


def title_cell(page: RowPage, root: str = "", *, anchor: bool = False) -> Cell:
    """Return the title of a row as a link, with its badges; `anchor` where a page has the row once."""
    return Cell(page.title, href=root + page.page, hint=page.name, badges=page.badges, anchor=page.id if anchor else "")


def _sort_key(value: Any) -> float | None:
    if isinstance(value, Summary):
        return value.mean
    if isinstance(value, tuple):
        return float(value[0])
    return value if isinstance(value, int | float) else None


def _dataset(page: RowPage, root: str, mark: str) -> Cell:
    return Cell(page.dataset_title, href=root + dataset_page(page.dataset), hint=page.dataset)


def _protocol(page: RowPage, root: str, mark: str) -> Cell:
    return Cell(page.protocol, hint=page.row.first.spec.protocol)


def _label(page: RowPage, root: str, mark: str) -> Cell:
    return Cell(page.label, href=root + page.page, hint=page.name, badges=page.badges, anchor=page.id)


def _encoding(page: RowPage, root: str, mark: str) -> Cell:
    row = page.row
    return Cell(encoding_title(row.first.spec.encoding) or "none", hint=row.encoding, mark="fold")


def _params(page: RowPage, root: str, mark: str) -> Cell:
    params = page.row.params
    return Cell(f"{params:,}", sort=params) if params and page.row.has_epochs else Cell("")


def _test(page: RowPage, root: str, mark: str) -> Cell:
    test = page.test
    return Cell(str(test), sort=test.mean, mark=mark, hint=_extra_metrics(page.row)) if test else Cell("")


def _test_ci(page: RowPage, root: str, mark: str) -> Cell:
    test = page.test
    return Cell(test.interval, sort=test.ci_low) if test and test.ci_low is not None else Cell("")


def _published(page: RowPage, root: str, mark: str) -> Cell:
    published = page.row.published
    if published is None or published.test is None:
        return Cell("")
    badges = () if published.origin == "own" else ((published.origin, f"{published.where}: {published.citation}"),)
    return Cell(published.test.text, sort=published.test.mean, mark="published", badges=badges)


def _trials(page: RowPage, root: str, mark: str) -> Cell:
    others = [f"{count} {status}" for status, count in page.open.items()]
    planned = f" of the {page.planned} trials of the protocol" if page.planned else ""
    return Cell(", ".join([str(page.done), *others]), sort=page.done, hint=f"{page.done}{planned}")


def _verdict(page: RowPage, root: str, mark: str) -> Cell:
    return page.verdict


def _extra_metrics(row: ResultRow) -> str:
    return ", ".join(f"{name} {summary}" for name, summary in row.extra_metrics.items())


_CELLS: dict[str, Callable[[RowPage, str, str], Cell]] = {
    "dataset": _dataset,
    "protocol": _protocol,
    "label": _label,
    "encoding": _encoding,
    "params": _params,
    "test": _test,
    "test_ci": _test_ci,
    "published": _published,
    "statuses": _trials,
    "verdict": _verdict,
}
"""Columns whose cells have a link, a tooltip, badges or a style."""
