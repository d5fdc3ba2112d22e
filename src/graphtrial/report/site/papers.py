"""The page "what agrees with the papers"."""

from __future__ import annotations

from collections import Counter

from graphtrial.report.agreement import EXPLANATION
from graphtrial.report.site.grid import Cell, Column, Grid, number, numbers, words
from graphtrial.report.site.site import Site
from graphtrial.report.site.views import dataset_page

ORDER = {"agrees": "agrees", "better": "better", "worse": "worse", "not comparable": "open"}
"""The verdicts in the order in which they are told, with their styles."""


def counts(site: Site) -> list[tuple[str, int, str]]:
    """Return each verdict in words that follow a number, how many rows have it, and its style."""
    found = Counter(str(view.agreement.verdict) for view in site.rows)
    plural = {"agrees": "agree"}
    return [
        (verdict if found[verdict] == 1 else plural.get(verdict, verdict), found[verdict], style)
        for verdict, style in ORDER.items()
    ]


def write(site: Site) -> None:
    """Write the page."""
    site.page("papers.html", "papers.html", counts=counts(site), grid=site.table(_grid(site)), explanation=EXPLANATION)


def _grid(site: Site) -> Grid:
    order = list(ORDER)
    rows = [view for view in site.rows if view.row.published is not None]
    rows.sort(key=lambda view: (order.index(view.agreement.verdict), view.dataset))
    lines = []
    for view in rows:
        printed, found, test = view.row.published, view.agreement, view.test
        theirs = printed.test if printed else None
        lines.append(
            [
                view.verdict,
                Cell(view.dataset, href=dataset_page(view.dataset)),
                Cell(view.name, href=view.page),
                Cell(str(test), sort=test.mean) if test else Cell(""),
                Cell(theirs.printed, sort=theirs.mean) if theirs else Cell(""),
                number(found.difference, "+.3f"),
                number(found.p, ".2g"),
                Cell(found.reason),
            ]
        )
    columns = (
        *words("Verdict", "Dataset", "Row"),
        *numbers("Ours", "Published", "Difference", "p"),
        Column("Why", number=False, below=True),
    )
    return Grid("papers", "What agrees with the papers", columns, lines, EXPLANATION)
