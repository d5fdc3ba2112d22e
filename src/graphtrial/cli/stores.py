"""`graphtrial store`: what can be done with a whole store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.cli.see import open_store
from graphtrial.files import DEFAULT_STORE

app = typer.Typer(help="Copy stores.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def stores() -> None:
    """Copy stores."""


@app.command()
@friendly
def ship(
    target: Annotated[Path, typer.Option("--out", help="The file to write; packed if it ends in .xz.")],
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Write a copy of the finished trials that names no machine, no person and no folder.

    Example: graphtrial store ship --out results.sqlite.xz
    """
    from graphtrial.shipped import ship as write_copy

    made = write_copy(open_store(store), target)
    if json:
        print_json({**vars(made), "path": str(made.path)})
        return
    left = f"; {made.left} unfinished ones were left out" if made.left else ""
    out.print(
        f"{made.path}: {made.trials} trials, {made.epochs} epochs, {made.size / 1e6:.2f} MB{left}", soft_wrap=True
    )
