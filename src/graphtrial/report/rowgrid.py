"""Tables of rows, as dataset and model pages show them."""

from __future__ import annotations

from collections.abc import Sequence

from graphtrial.report.grid import Cell, Column, Grid, best_two, number, numbers, words
from graphtrial.report.views import RowView, dataset_page
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.chance import is_at_chance
from graphtrial.results.statistics.summary import PLUS_MINUS
from graphtrial.results.titles import encoding_title

CAPTION = (
    "Best test score bold, second best underlined. "
    + PLUS_MINUS
    + " Times are those of one thread; Total is per trial. Published: the test score as printed in the paper."
)


def row_grid(name: str, title: str, rows: Sequence[RowView], root: str, *, with_dataset: bool = False) -> Grid:
    """Return a table with one line per row; `with_dataset` where they are of several."""
    marks = best_two(
        [None if with_dataset or view.test is None or is_at_chance(view.row) else view.test.mean for view in rows],
        rows[0].row.first.higher_is_better,
    )
    columns = (
        *(words("Dataset") if with_dataset else ()),
        *words("Model", "Encoding"),
        Column("L", hint="layers"),
        Column("#Param", hint="parameters"),
        *numbers("Test"),
        Column("95 % interval", under=True),
        *numbers("Published", "Train", "Trials", "Epochs"),
        Column("s / epoch", hint="seconds per epoch; below, time per trial"),
        Column("Total", under=True),
        Column("Verdict", number=False, keep=True),
    )
    cells = [_cells(view, mark, root, with_dataset) for view, mark in zip(rows, marks, strict=True)]
    kept = [
        i for i in range(len(columns)) if any(row[i].text for row in cells)
    ]  # kernels have neither layers nor epochs
    return Grid(name, title, tuple(columns[i] for i in kept), [[row[i] for i in kept] for row in cells], CAPTION)


def _cells(view: RowView, mark: str, root: str, with_dataset: bool) -> list[Cell]:
    row, test, train = view.row, view.test, view.row.scores("train")
    printed = row.published.test if row.published else None
    epochs = row.mean("epochs") if row.has_epochs else None
    return [
        *([dataset_cell(view, root)] if with_dataset else []),
        Cell(view.label, href=root + view.page, hint=view.name, badges=view.badges),
        Cell(encoding_title(row.first.spec.encoding) or "none", hint=row.encoding, mark="fold"),
        Cell(row.setting("layers")),
        Cell(f"{row.params:,}", sort=row.params) if row.params and row.has_epochs else Cell(""),
        Cell(str(test), sort=test.mean, mark=mark, hint=_extra_metrics(row)) if test else Cell(""),
        Cell(test.interval, sort=test.ci_low) if test and test.ci_low is not None else Cell(""),
        Cell(printed.printed, sort=printed.mean, mark="published") if printed else Cell(""),
        Cell(str(train), sort=train.mean) if train else Cell(""),
        trials_cell(view),
        number(epochs, ".1f"),
        number(row.mean("epoch_seconds") if row.has_epochs else None, ".2f"),
        Cell(duration(row.hours), sort=row.hours) if row.hours is not None else Cell(""),
        view.verdict,
    ]


def dataset_cell(view: RowView, root: str = "") -> Cell:
    """Return the dataset of a row as a link."""
    return Cell(view.dataset_title, href=root + dataset_page(view.dataset), hint=view.dataset)


def row_cell(view: RowView, root: str = "") -> Cell:
    """Return a row as a link, with its badges."""
    return Cell(view.title, href=root + view.page, hint=view.name, badges=view.badges)


def _extra_metrics(row: ResultRow) -> str:
    return ", ".join(f"{name} {found}" for name, found in row.extra_metrics.items())


def trials_cell(view: RowView) -> Cell:
    """Return how many trials have a score, and what became of the others."""
    others = [f"{count} {status}" for status, count in view.open.items()]
    planned = f" of the {view.planned} trials of the protocol" if view.planned else ""
    return Cell(", ".join([str(view.done), *others]), sort=view.done, hint=f"{view.done}{planned}")


def duration(hours: float) -> str:
    """Return a duration in the unit that fits it."""
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{60 * hours:.1f} min" if hours >= 1 / 60 else f"{3600 * hours:.1f} s"
