"""One page per table of the papers: as printed, our scores in each cell, and commands for missing rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from graphtrial.published import PAPERS, PublishedResult, PublishedScore
from graphtrial.report.addresses import table_page
from graphtrial.report.grid import Cell, Grid, numbers, words
from graphtrial.report.row_page import STYLES
from graphtrial.report.site import Site
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.printed import Line, MatchedRow, PrintedCell, PrintedTable

ROOT = "../"
TITLES: dict[str, str] = {
    "params": ROW_COLUMNS["params"].heading,
    "test": ROW_COLUMNS["test"].heading,
    "test_max": "Test max",
    "test_min": "Test min",
    "train": ROW_COLUMNS["train"].heading,
    "train_max": "Train max",
    "train_min": "Train min",
    "epochs": ROW_COLUMNS["epochs"].heading,
    "time": ROW_COLUMNS["time"].heading,
}
BEFORE = {
    "layers": ROW_COLUMNS["layers"].heading,
    "params": ROW_COLUMNS["params"].heading,
    "edge_feat": "",
    "edge_repr": "",
    "aggregator": "Aggregation",
    "hidden": "Hidden",
}
STATUS = {"diverged": "diverged", "oom": "out of memory", "not-used": "–"}
NOT_RUN = "not run"
NOT_RECORDED = "not recorded"


@dataclass(frozen=True)
class Printed:
    """A cell of a printed table: the published text, and a line for each matching row of ours."""

    published: str
    matches: tuple[Cell, ...] = ()
    missing: bool = False


def write(site: Site) -> None:
    """Write the pages of all tables."""
    for table in site.printed:
        site.page(
            table_page(table.paper, table.number),
            "papertable.html",
            table=table,
            paper=PAPERS[table.paper].citation,
            before=[BEFORE.get(name, name) for name in table.layout.before],
            measures=[TITLES[column] for column in table.layout.columns],
            lines=[_line(site, table, line) for line in table.lines],
            counts=_counts(table),
            missing=sum(cell.is_missing for cell in table.cells),
            grid=site.table(_grid(site, table)),
        )


def _counts(table: PrintedTable) -> list[tuple[str, int, str]]:
    """Return the number of rows by verdict, without rows with departures."""
    verdicts = Counter(
        one.row.verdict.label
        for cell in table.cells
        for one in cell.matches
        if one.row.published is cell.printed and not one.row.departures
    )
    return [(verdict, verdicts[verdict], style) for verdict, style in STYLES.items()]


def _line(site: Site, table: PrintedTable, line: Line) -> dict[str, object]:
    columns = table.layout.columns
    cells = [_cell(site, cell, column) if cell else Printed("") for cell in line.cells for column in columns]
    missing_cells = [
        (group, cell) for group, cell in zip(table.layout.groups, line.cells, strict=True) if cell and cell.is_missing
    ]
    first = next(cell for cell in line.cells if cell)
    before = [
        _cell(site, first, "params") if name == "params" else Printed(text)
        for name, text in zip(table.layout.before, line.before, strict=True)
    ]
    return {"heading": line.heading, "label": line.label, "before": before, "cells": cells, "missing": missing_cells}


def _cell(site: Site, cell: PrintedCell, column: str) -> Printed:
    published = _published(cell.printed, column)
    if not cell.matches:
        return Printed(published, missing=column == "test" and cell.is_missing)
    if column == "test":
        return Printed(published, tuple(_test(site, cell, one) for one in cell.matches))
    texts = [_MEASURES[column](one) for one in cell.matches]
    return Printed(published, tuple(Cell(text) for text in texts if text))


def _test(site: Site, cell: PrintedCell, one: MatchedRow) -> Cell:
    """Return our score: a link to its row, its badges, and the verdict if it is on this printed row."""
    view = site.view_of[one.row.id]
    verdict = view.row.verdict.label if one.row.published is cell.printed else ""
    text = str(one.score) if one.score else NOT_RECORDED
    name = f"{view.label} " if len(cell.matches) > 1 else ""
    return Cell(
        name + text,
        href=ROOT + view.page,
        hint=f"{view.title}; {view.row.verdict.reason}" if verdict else view.title,
        pill=STYLES.get(verdict, ""),
        mark=verdict,
        badges=view.badges,
    )


def _published(row: PublishedResult, column: str) -> str:
    part, _, end = column.partition("_")
    if part in ("test", "train"):
        score: PublishedScore | None = getattr(row, part)
        if score is None:
            return STATUS.get(row.status, "") if column == "test" else ""
        value = getattr(score, end) if end else None
        return score.text if not end else "" if value is None else f"{value:.3f}"
    if column == "params":
        return "" if row.params is None else f"{row.params:,}"
    if column == "epochs":
        return "" if row.epochs is None else f"{row.epochs:.2f}"
    if row.epoch_seconds is None and row.total_hours is None:
        return ""
    epoch = "" if row.epoch_seconds is None else f"{row.epoch_seconds:.2f}s/"
    return epoch + ("" if row.total_hours is None else f"{row.total_hours:.2f}hr")


def _end(part: str, end: str) -> Callable[[MatchedRow], str]:
    def text(one: MatchedRow) -> str:
        scores = one.row.scores(part)
        return "" if scores is None else f"{getattr(scores, end):.3f}"

    return text


def _epochs(one: MatchedRow) -> str:
    epochs = one.row.mean("epochs") if one.row.has_epochs else None
    return "" if epochs is None else f"{epochs:.2f}"


def _params(one: MatchedRow) -> str:
    return f"{one.row.params:,}" if one.row.params and one.row.has_epochs else ""


_MEASURES: dict[str, Callable[[MatchedRow], str]] = {
    "params": _params,
    "test_max": _end("test", "max"),
    "test_min": _end("test", "min"),
    "train": lambda one: str(one.row.scores("train") or ""),
    "train_max": _end("train", "max"),
    "train_min": _end("train", "min"),
    "epochs": _epochs,
    "time": lambda one: ROW_COLUMNS["time"].cell(one.row) if one.row.has_epochs else "",
}


def _grid(site: Site, table: PrintedTable) -> Grid:
    """Return the table with one line per printed row and row of ours, for the exports."""
    lines = []
    for line in table.lines:
        for group, cell in zip(table.layout.groups, line.cells, strict=True):
            for one in cell.matches or (None,) if cell else ():
                lines.append(_flat(site, line, group, cell, one))  # type: ignore[arg-type]
    columns = (*words("Part", "Model", "Setting"), *numbers("Published", "Ours"), *words("Verdict", "Run it"))
    name = f"paper-{table.paper}-table-{table.number}"
    return Grid(name, f"{table.paper}, table {table.number}: {table.title}", columns, lines)


def _flat(site: Site, line: Line, group: str, cell: PrintedCell, one: MatchedRow | None) -> list[Cell]:
    setting = ", ".join(filter(None, [*line.before, group]))
    view = site.view_of[one.row.id] if one else None
    score = (
        Cell(NOT_RUN if cell.is_missing else "")
        if view is None
        else Cell(str(one.score) if one and one.score else NOT_RECORDED, badges=view.badges)
    )
    has_verdict = one is not None and one.row.published is cell.printed
    return [
        Cell(line.heading),
        Cell(line.label),
        Cell(setting),
        Cell(_published(cell.printed, "test")),
        score,
        Cell(one.row.verdict.label if one and has_verdict else ""),
        Cell((cell.command or cell.reason) if cell.is_missing else ""),
    ]
