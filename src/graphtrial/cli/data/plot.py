"""`graphtrial data plot`: figures of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphtrial.cli.common import Allowed, Json, Plugins, friendly, load_code, out, print_json
from graphtrial.cli.completion import complete_dataset


@friendly
def plot(
    name: Annotated[str, typer.Argument(help="A dataset.", autocompletion=complete_dataset)],
    to: Annotated[Path, typer.Option("--out", help="Output folder.")] = Path("graphtrial-plots"),
    graphs: Annotated[int, typer.Option(min=1, help="Number of sample graphs.")] = 6,
    format: Annotated[str, typer.Option(help="Image format, png or svg.")] = "png",
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Draw sample graphs and statistics of a dataset.

    Example: graphtrial data plot csl --graphs 10 --format svg
    """
    load_code(plugin, allow, name)
    from graphtrial.datasets import load
    from graphtrial.plots import plot as plot_dataset

    paths = plot_dataset(load(name), to, graphs=graphs, format=format)
    if json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        out.print(str(path))
