"""The page of all rows that a paper has as well, the worst first, and the list of the papers' tables."""

from __future__ import annotations

from graphtrial.report.grid import Cell, Column, Grid, number, numbers, words
from graphtrial.report.rowgrid import dataset_cell, row_cell
from graphtrial.report.site import Site
from graphtrial.report.views import STYLES, RowView, table_page
from graphtrial.results.verdict import EXPLANATION, tally


def counts(site: Site) -> list[tuple[str, int, str]]:
    """Return each verdict, how many rows by the published data and rules have it, and its style."""
    faithful, _ = tally([view.row for view in site.rows])
    return [(verdict, faithful[verdict], style) for verdict, style in STYLES.items()]


def apart(site: Site) -> list[tuple[str, int, str]]:
    """Return the same of the rows on other data or by changed rules."""
    _, others = tally([view.row for view in site.rows])
    return [(verdict, others[verdict], style) for verdict, style in STYLES.items()]


def write(site: Site) -> None:
    """Write the page."""
    site.page(
        "papers.html",
        "papers.html",
        counts=counts(site),
        apart=apart(site),
        grid=site.table(_grid(site)),
        tables=site.printed,
        explanation=EXPLANATION,
    )


def _grid(site: Site) -> Grid:
    rows = sorted((view for view in site.rows if view.row.published is not None), key=_place)
    columns = (
        *words("Row", "Dataset"),
        *numbers("Ours", "Published", "Difference"),
        Column("p", hint="of Welch's test, after Holm's correction within the table"),
        *numbers("Trials"),
        *words("Table"),
        Column("Verdict", number=False, keep=True),
        Column("Why", number=False, below=True),
    )
    return Grid("papers", "What was reproduced", columns, [_line(view) for view in rows], whole=True)


def _place(view: RowView) -> tuple[int, bool, str, str]:
    """Sort by verdict, the worst first; what is not as published after what is."""
    return list(STYLES).index(view.row.verdict.label), bool(view.badges), view.dataset, view.title


def _line(view: RowView) -> list[Cell]:
    printed, found, test = view.row.published, view.row.verdict, view.test
    theirs = printed.test if printed else None
    return [
        row_cell(view),
        dataset_cell(view),
        Cell(str(test), sort=test.mean) if test else Cell(""),
        Cell(theirs.printed, sort=theirs.mean, mark="published") if theirs else Cell(""),
        number(found.difference, "+.3f"),
        number(found.p_holm, ".2g"),
        Cell(str(view.done), sort=view.done),
        Cell(f"{printed.paper}, {printed.table}", href=table_page(printed.paper, printed.table))
        if printed
        else Cell(""),
        view.verdict,
        Cell(found.reason),
    ]
