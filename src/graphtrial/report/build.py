"""Write the whole site, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import atomic_folder
from graphtrial.report.pages import compare, dataset, errata, model, overview, papers, papertable, row, trial
from graphtrial.report.row_page import RowPage
from graphtrial.report.site import Prepared, Site, pretty
from graphtrial.results.export.tables import markdown
from graphtrial.results.rows import result_rows
from graphtrial.results.select import best_first
from graphtrial.trials.store import Store

MARKER = "graphtrial-report.json"
"""The file by which a folder is known to be a report, which a newer one may replace."""


def write_site(
    store: Store, folder: Path, *, prepare: Callable[[str, str], Prepared] | None = None, store_option: str = ""
) -> Path:
    """Write a site about every trial of a store and return the path of its first page.

    `prepare` returns facts and pictures of a dataset, given its name and the hash of its data, for its page;
    `store_option` is what a reader adds to a command to name this store, such as ` --shipped`. A report that was there
    before is replaced as a whole; a folder that holds anything else is left alone.
    """
    records = store.trials()
    if not records:
        raise GraphTrialError(f"the store {store.path} has no trials yet; `graphtrial run csl gcn` makes some")
    _check(folder)
    rows = best_first(result_rows(records))
    with atomic_folder(folder, flush=False) as temporary:
        site = Site(store, [RowPage(row) for row in rows], records, temporary, prepare, store_option)
        for file in resources.files("graphtrial.report").joinpath("static").iterdir():
            site.write(f"static/{file.name}", file.read_text(encoding="utf-8"))
        for part in (overview, papers, papertable, dataset, model, row, trial, compare, errata):
            part.write(site)
        site.write("report.md", f"# GraphTrial report\n\n{markdown(rows)}")
        site.write(MARKER, pretty({"kind": "graphtrial report", "rows": len(rows), "trials": len(records)}))
    return folder / "index.html"


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise GraphTrialError(f"{folder} is a file; name a folder for the report with --out")
    if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise GraphTrialError(
            f"{folder} holds files that are no report, which would be lost; name another folder with --out"
        )
