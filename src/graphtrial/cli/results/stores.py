"""`graphtrial store`: export and merge stores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.cli.results.see import open_store
from graphtrial.core.files import DEFAULT_STORE

app = typer.Typer(help="Copy and merge stores.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def stores() -> None:
    """Copy and merge stores."""


@app.command()
@friendly
def ship(
    target: Annotated[Path, typer.Option("--out", help="Output file; compressed if it ends in .xz.")],
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Export the finished trials without names of machines, users and folders.

    Example: graphtrial store ship --out results.sqlite.xz
    """
    from graphtrial.shipped import ship as write_copy

    copy = write_copy(open_store(store), target)
    if json:
        print_json({**vars(copy), "path": str(copy.path)})
        return
    searches = f", {copy.searches} searches" if copy.searches else ""
    left = f"; {copy.left} unfinished trials were left out" if copy.left else ""
    out.print(
        f"{copy.path}: {copy.trials} trials, {copy.epochs} epochs{searches}, {copy.size / 1e6:.2f} MB{left}",
        soft_wrap=True,
    )


@app.command()
@friendly
def merge(
    others: Annotated[list[Path], typer.Argument(help="Stores whose finished trials are copied.", show_default=False)],
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Copy the finished trials of other stores into --store; its own results are never replaced.

    Example: graphtrial store merge laptop.sqlite cluster.sqlite --store all.sqlite
    """
    from graphtrial.trials import Store
    from graphtrial.trials.store.merge import merge as copy_from

    target = Store(store)
    merges = {str(other): copy_from(target, other) for other in others}
    if json:
        print_json([{"store": name, **vars(merged)} for name, merged in merges.items()])
    for name, merged in merges.items() if not json else ():
        same = f", {len(merged.same)} already present" if merged.same else ""
        left = f", {merged.left} unfinished left out" if merged.left else ""
        weights = f", {len(merged.weights)} with weights" if merged.weights else ""
        out.print(f"{name}: {len(merged.copied)} trials copied{weights}{same}{left}", soft_wrap=True)
        if merged.different:
            out.print(
                f"{len(merged.different)} trials have another result in {store}, which is not replaced: "
                f"{', '.join(merged.different[:5])}; `graphtrial reproduce ID` checks it",
                soft_wrap=True,
            )
        for subject, trials in (("trials are", merged.refused), ("weights files are", merged.damaged)):
            if trials:
                out.print(
                    f"{len(trials)} {subject} damaged in {name} and were not copied: {', '.join(trials[:5])}; "
                    f"`graphtrial doctor --store {name}` shows details",
                    soft_wrap=True,
                )
    if any(merged.refused or merged.damaged for merged in merges.values()):
        raise typer.Exit(1)
