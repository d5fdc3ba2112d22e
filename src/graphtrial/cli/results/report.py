"""`graphtrial report`: a static site with all results and the published ones."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.cli.results.see import IsShipped, store_of
from graphtrial.core.files import DEFAULT_STORE

if TYPE_CHECKING:
    from graphtrial.trials import Store


@friendly
def report(
    folder: Annotated[Path, typer.Option("--out", help="Output folder.")] = Path("graphtrial-results/report"),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown instead.")] = False,
    pictures: Annotated[bool, typer.Option(help="Include plots of prepared datasets.")] = True,
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Write a static site: all results with the published ones, learning curves, comparisons and commands.

    Example: graphtrial report --out site
    """
    from graphtrial.results import markdown as as_markdown
    from graphtrial.results.select import rows_of

    opened = store_of(store, shipped)
    if json or markdown:
        rows = rows_of(opened, "all")
        if json:
            print_json([row.to_dict() for row in rows])
        else:
            print(as_markdown(rows))
        return
    out.print(f"report: {write(opened, folder, store_option(store, shipped), pictures)}", soft_wrap=True)


def write(store: Store, folder: Path, option: str, pictures: bool) -> Path:
    """Write the site of a store, with metadata and plots of prepared datasets; return its first page."""
    from graphtrial.plots.cached import cached_plots
    from graphtrial.report import Prepared, write_site

    def prepare(name: str, data: str) -> Prepared:
        return Prepared(*cached_plots(name, data))

    return write_site(store, folder, prepare=prepare if pictures else None, store_option=option)


def store_option(path: Path, shipped: bool) -> str:
    """Return the option that names the store in commands of the report, without folders of this machine."""
    if shipped:
        return " --shipped"
    if path == DEFAULT_STORE:
        return ""
    return f" --store {shlex.quote(path.name if path.is_absolute() else path.as_posix())}"
