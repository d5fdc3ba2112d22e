"""Tables of published results on dataset, model and paper pages: classic and modern rows side by side."""

from __future__ import annotations

from collections.abc import Iterable

from graphtrial.published import PublishedResult
from graphtrial.report.addresses import paper_page, table_page
from graphtrial.report.grid import Cell, Grid, GridColumn
from graphtrial.report.site import Site

CAPTION = (
    "Published test scores, the best first. Only a paper's own measurements give a verdict, under the same protocol "
    "and at the same size; what is quoted, or of a leaderboard, a rebuttal or an issue, is shown with its source."
)
COLUMNS = {
    "dataset": GridColumn("Dataset", number=False),
    "model": GridColumn("Model", number=False),
    "variant": GridColumn("Variant", number=False),
    "layers": GridColumn("L"),
    "params": GridColumn("#Param", hint="as printed, else of the released configuration"),
    "score": GridColumn("Published"),
    "metric": GridColumn("Metric", number=False),
    "origin": GridColumn("Origin", number=False),
    "where": GridColumn("Where", number=False),
    "runs": GridColumn("Runs"),
    "ours": GridColumn("Ours", hint="of the rows here that are compared with it"),
    "citation": GridColumn("Read in", number=False),
    "erratum": GridColumn("Erratum", number=False),
}


def published_grid(
    site: Site, name: str, title: str, results: Iterable[PublishedResult], root: str, *, without: tuple[str, ...] = ()
) -> Grid | None:
    """Return a table of published test scores without empty columns and those of `without`; `None` without scores."""
    scored = sorted((row for row in results if row.test and not row.target), key=_rank)
    lines = [_cells(site, row, root) for row in scored]
    if not lines:
        return None
    metrics = {row.metric for row in scored}
    hidden = (*without, "metric") if len(metrics) == 1 else without
    shown = [key for key in COLUMNS if key not in hidden and any(line[key].text for line in lines)]
    columns = tuple(COLUMNS[key] for key in shown)
    return Grid(name, title, columns, [[line[key] for key in shown] for line in lines], CAPTION, formats=("csv",))


def where_cell(row: PublishedResult, root: str = "") -> Cell:
    """Return paper and table of a published result, with a link to their page."""
    page = table_page(row.paper, row.table) if isinstance(row.table, int) else paper_page(row.paper)
    table = f"table {row.table}" if isinstance(row.table, int) else row.table
    return Cell(f"{row.paper}, {table}", href=root + page, mark="fold")


def _rank(row: PublishedResult) -> tuple[str, str, float]:
    mean = row.test.mean if row.test else 0.0
    return (row.datasets or [row.printed.dataset])[0], row.metric, -mean if row.higher_is_better else mean


def _cells(site: Site, row: PublishedResult, root: str) -> dict[str, Cell]:
    score, params = row.test, row.params or row.params_exact
    variant = ", ".join(str(value) if key == "pe" else f"{key} {value}" for key, value in row.printed.variant.items())
    views = site.compared.get(id(row), [])
    ours = Cell(", ".join(str(view.test) for view in views), href=root + views[0].page) if views else Cell("")
    return {
        "dataset": Cell(row.printed.dataset),
        "model": Cell(row.label, mark="fold"),
        "variant": Cell(variant, mark="fold"),
        "layers": Cell("" if row.layers is None else str(row.layers), sort=row.layers),
        "params": Cell(f"{params:,}", sort=params) if params else Cell(""),
        "score": Cell(score.text, sort=score.mean, mark="published") if score else Cell(""),
        "metric": Cell(row.metric),
        "runs": Cell(str(score.n), sort=score.n) if score and score.n else Cell(""),
        "ours": ours,
        "origin": Cell(row.origin),
        "where": where_cell(row, root),
        "citation": Cell(row.citation, mark="fold"),
        "erratum": Cell(row.erratum or "", mark="fold"),
    }
