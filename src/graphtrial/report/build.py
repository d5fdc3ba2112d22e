"""Write the site atomically."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import DEFAULT_REPORT, DEFAULT_STORE, atomic_folder
from graphtrial.report.addresses import site_url, sitemap
from graphtrial.report.pages import compare, dataset, errata, model, overview, paper, papers, papertable, row, trial
from graphtrial.report.row_page import RowPage
from graphtrial.report.site import Prepared, Site, pretty
from graphtrial.results.export.tables import markdown
from graphtrial.results.grouping import result_rows
from graphtrial.results.select import best_first, opened
from graphtrial.trials.store import Store
from graphtrial.trials.store.searches import load_searches

MARKER = "graphtrial-report.json"
"""File that marks a folder as a report, which a newer one may replace."""
SHIPPED_OPTION = " --shipped"


def report(
    folder: Path | str = DEFAULT_REPORT,
    *,
    store: Store | Path | str = DEFAULT_STORE,
    pictures: bool = True,
    url: str = "",
) -> Path:
    """Write the results of a store as a static site and return its first page, which opens from disk.

    `url` is where the site will be published, for link previews and search engines.
    """
    return write_report(opened(store), Path(folder), pictures=pictures, url=url)


def write_report(
    store: Store, folder: Path, *, option: str | None = None, pictures: bool = True, url: str = ""
) -> Path:
    """Write the site of a store and return its first page, with metadata and, if `pictures`, plots of its datasets.

    Only datasets that are prepared on this machine have plots. `option` names the store in commands on the pages.
    """
    from graphtrial.plots.cached import cached_plots

    def prepare(name: str, data: str) -> Prepared:
        return Prepared(*cached_plots(name, data))

    chosen = store_option(store.path) if option is None else option
    return write_site(store, folder, prepare=prepare if pictures else None, store_option=chosen, url=url)


def store_option(path: Path) -> str:
    """Return the option that names a store in commands of the report, without folders of this machine."""
    if path == DEFAULT_STORE:
        return ""
    return f" --store {shlex.quote(path.name if path.is_absolute() else path.as_posix())}"


def write_site(
    store: Store,
    folder: Path,
    *,
    prepare: Callable[[str, str], Prepared] | None = None,
    store_option: str = "",
    url: str = "",
) -> Path:
    """Write a site with all trials of a store and return the path of its first page.

    `prepare` returns metadata and plots of a dataset, given its name and data hash; `store_option` is the option that
    names this store in the commands on the pages, such as ` --shipped`. `url` is where the site will be published: link
    previews get absolute addresses, and search engines a `sitemap.xml`. An existing report is replaced as a whole; a
    folder with other files is an error.
    """
    stored = store.trials()
    records = [record for record in stored if record.spec.score_test]
    if not records:
        raise GraphTrialError(f"the store {store.path} has no trials yet; `graphtrial run csl gcn` runs some")
    _check(folder)
    address = site_url(url) if url else ""
    rows = best_first(result_rows(records, load_searches(store)))
    with atomic_folder(folder, flush=False) as temporary:
        pages, searched = [RowPage(row) for row in rows], len(stored) - len(records)
        site = Site(store, pages, records, temporary, prepare, store_option, address, searched)
        for file in resources.files("graphtrial.report").joinpath("static").iterdir():
            site.write(f"static/{file.name}", file.read_bytes())
        for part in (overview, papers, papertable, paper, dataset, model, row, trial, compare, errata):
            part.write(site)
        if address:
            site.write("sitemap.xml", sitemap(temporary, address))
        site.write("report.md", f"# GraphTrial report\n\n{markdown(rows)}")
        site.write(MARKER, pretty({"kind": "graphtrial report", "rows": len(rows), "trials": len(records)}))
    return folder / "index.html"


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise GraphTrialError(f"{folder} is a file; name a folder for the report with --out")
    if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise GraphTrialError(
            f"{folder} has files of another kind, which would be lost; name another folder with --out"
        )
