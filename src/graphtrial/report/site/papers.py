"""The page "what was reproduced"."""

from __future__ import annotations

from graphtrial.report.site.grid import Cell, Column, Grid, number, numbers, words
from graphtrial.report.site.site import Site
from graphtrial.report.site.views import dataset_page
from graphtrial.report.verdict import EXPLANATION, tally

ORDER = {
    "differs (worse)": "worse",
    "differs (better)": "better",
    "inconclusive": "open",
    "not comparable": "open",
    "reproduced": "agrees",
}
"""The verdicts in the order in which they are told, with their styles."""


def counts(site: Site) -> list[tuple[str, int, str]]:
    """Return each verdict, how many rows by the published data and rules have it, and its style."""
    faithful, _ = tally([view.row for view in site.rows])
    return [(verdict, faithful[verdict], style) for verdict, style in ORDER.items()]


def apart(site: Site) -> list[tuple[str, int, str]]:
    """Return the same of the rows on other data or by changed rules."""
    _, others = tally([view.row for view in site.rows])
    return [(verdict, others[verdict], style) for verdict, style in ORDER.items()]


def write(site: Site) -> None:
    """Write the page."""
    site.page(
        "papers.html",
        "papers.html",
        counts=counts(site),
        apart=apart(site),
        grid=site.table(_grid(site)),
        explanation=EXPLANATION,
    )


def _grid(site: Site) -> Grid:
    order = list(ORDER)
    rows = [view for view in site.rows if view.row.published is not None]
    rows.sort(key=lambda view: (order.index(view.row.verdict.label), view.dataset))
    lines = []
    for view in rows:
        printed, found, test = view.row.published, view.row.verdict, view.test
        theirs = printed.test if printed else None
        lines.append(
            [
                view.verdict,
                Cell(view.dataset, href=dataset_page(view.dataset)),
                Cell(view.name, href=view.page),
                Cell(str(test), sort=test.mean) if test else Cell(""),
                Cell(theirs.printed, sort=theirs.mean) if theirs else Cell(""),
                number(found.difference, "+.3f"),
                number(found.p_holm, ".2g"),
                Cell(found.reason),
            ]
        )
    columns = (
        *words("Verdict", "Dataset", "Row"),
        *numbers("Ours", "Published", "Difference", "p"),
        Column("Why", number=False, below=True),
    )
    return Grid("papers", "What was reproduced", columns, lines, EXPLANATION)
