"""`graphtrial data export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphtrial.cli.common import Allowed, Json, Plugins, friendly, load_code, out, print_json

LOADER = '[Data(**item) for item in torch.load("{file}", weights_only=True)] reads it in PyG'


@friendly
def export(
    name: Annotated[str, typer.Argument(help="A dataset.")],
    folder: Annotated[Path, typer.Argument(help="Folder of the files.")],
    to: Annotated[str, typer.Option(help="Format: pyg, parquet or croissant (which adds a description).")] = "parquet",
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Export a dataset with its splits, preparing it if necessary; docs/your-data.md describes the formats.

    Example: graphtrial data export csl csl-files --to croissant
    """
    load_code(plugin, allow, name)
    from graphtrial.datasets import load
    from graphtrial.datasets.export import export as export_dataset

    dataset = load(name)
    files = export_dataset(dataset, folder, to)
    if json:
        print_json({"name": dataset.name, "hash": dataset.hash, "files": [str(file) for file in files]})
        return
    for file in files:
        out.print(f"{file}: {file.stat().st_size:,} bytes")
    out.print(f"{dataset.name}, {len(dataset)} graphs, licence: {dataset.spec.licence}")
    if to == "pyg":
        out.print(LOADER.format(file=files[0]))
