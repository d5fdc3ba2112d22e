"""Verdicts on all rows with a published score, the worst first, and the list of published tables."""

from __future__ import annotations

from dataclasses import replace

from graphtrial.published import published_results
from graphtrial.report.grid import Cell, Grid, words
from graphtrial.report.pages.paper import listed_papers
from graphtrial.report.published_table import where_cell
from graphtrial.report.row_page import STYLES, RowPage
from graphtrial.report.row_table import grid_column, row_cell, title_cell
from graphtrial.report.site import Site
from graphtrial.results.verdict import EXPLANATION, tally


def counts(site: Site) -> list[tuple[str, int, str]]:
    """Return each verdict, its number of rows without departures, and its style."""
    faithful, _ = tally([view.row for view in site.rows])
    return [(verdict, faithful[verdict], style) for verdict, style in STYLES.items()]


def apart(site: Site) -> list[tuple[str, int, str]]:
    """Return the same for rows with departures: other data, changed rules, old version."""
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
        listed={name: len(published_results(name)) for name in listed_papers()},
        explanation=EXPLANATION,
    )


def _grid(site: Site) -> Grid:
    rows = sorted((view for view in site.rows if view.row.published is not None), key=_sort_key)
    columns = (
        *words("Row"),
        grid_column("dataset"),
        grid_column("test", "Ours"),
        *(grid_column(name) for name in ("published", "difference", "p_holm", "statuses")),
        *words("Table"),
        grid_column("verdict"),
        replace(grid_column("reason"), below=True),
    )
    return Grid("papers", "Verdicts", columns, [_line(view) for view in rows], whole=True)


def _sort_key(view: RowPage) -> tuple[int, bool, str, str]:
    """Sort by verdict, the worst first, rows with departures last."""
    return list(STYLES).index(view.row.verdict.label), bool(view.badges), view.dataset, view.title


def _line(page: RowPage) -> list[Cell]:
    published = page.row.published
    return [
        title_cell(page, anchor=True),
        row_cell("dataset", page),
        Cell(str(page.test), sort=page.test.mean) if page.test else Cell(""),
        *(row_cell(name, page) for name in ("published", "difference", "p_holm")),
        Cell(str(page.done), sort=page.done),
        where_cell(published) if published else Cell(""),
        row_cell("verdict", page),
        row_cell("reason", page),
    ]
