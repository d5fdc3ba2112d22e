"""`graphtrial report`: a static site with all results and the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.cli.results.see import IsShipped, store_of
from graphtrial.core.files import DEFAULT_REPORT, DEFAULT_STORE


@friendly
def report(
    folder: Annotated[Path, typer.Option("--out", help="Output folder.")] = DEFAULT_REPORT,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown instead.")] = False,
    pictures: Annotated[bool, typer.Option(help="Include plots of prepared datasets.")] = True,
    url: Annotated[str, typer.Option(help="Where the site will be published, for link previews and search.")] = "",
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Write a static site: all results with the published ones, learning curves, comparisons and commands.

    Example: graphtrial report --out site
    """
    from graphtrial.report.build import SHIPPED_OPTION, store_option, write_report
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
    option = SHIPPED_OPTION if shipped else store_option(store)
    page = write_report(opened, folder, option=option, pictures=pictures, url=url)
    out.print(f"report: {page}", soft_wrap=True)
