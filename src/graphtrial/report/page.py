"""The report: one HTML page that opens from disk, and the same tables in Markdown."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from graphtrial.errors import GraphTrialError
from graphtrial.files import write_text
from graphtrial.report.curves import HEIGHT, WIDTH, curves
from graphtrial.report.rows import ResultRow, result_rows
from graphtrial.report.tables import EXPLANATION, HEADERS, cells, markdown, titles
from graphtrial.studies.store import Store


def write_report(store: Store, folder: Path) -> Path:
    """Write `index.html` and `report.md` about every trial of the store to `folder`; return the path of the page."""
    rows = result_rows(store.trials())
    if not rows:
        raise GraphTrialError(f"the store {store.path} has no trials yet; `graphtrial run csl gcn` makes some")
    jinja = Environment(loader=PackageLoader("graphtrial.report"), autoescape=True, undefined=StrictUndefined)
    page = jinja.get_template("report.html").render(
        tables=[
            {"title": title, "rows": [(cells(row), _drawing(store, row)) for row in group]}
            for title, group in titles(rows).items()
        ],
        headers=HEADERS,
        explanation=EXPLANATION,
        width=WIDTH,
        height=HEIGHT,
        environment=rows[-1].first.environment,
    )
    write_text(folder / "report.md", f"# GraphTrial report\n\n{markdown(rows)}")
    write_text(folder / "index.html", page)
    return folder / "index.html"


def _drawing(store: Store, row: ResultRow) -> dict[str, object]:
    histories = [[epoch.val_loss for epoch in store.history(trial.id)] for trial in row.trials]
    return {"curves": curves(histories), "count": len(histories), "name": f"{row.label}, encoding {row.encoding}"}
