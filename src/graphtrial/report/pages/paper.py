"""One page per paper whose results are a list, not tables of a known layout."""

from __future__ import annotations

from graphtrial.published import PAPERS, published_results
from graphtrial.published.papers import TABLES
from graphtrial.report.addresses import paper_page
from graphtrial.report.published_table import published_grid
from graphtrial.report.site import Site

ROOT = "../"


def write(site: Site) -> None:
    """Write the pages of all papers without printed tables."""
    for name in listed_papers():
        title = f"Results in {name}"
        grid = published_grid(site, f"paper-{name}", title, published_results(name), ROOT, without=("where",))
        site.page(
            paper_page(name),
            "paper.html",
            name=name,
            citation=PAPERS[name].citation,
            grid=site.table(grid) if grid else None,
        )


def listed_papers() -> list[str]:
    """Return the papers with results, but without a table of a known layout."""
    with_tables = {paper for paper, _ in TABLES}
    return [name for name in PAPERS if name not in with_tables and published_results(name)]
