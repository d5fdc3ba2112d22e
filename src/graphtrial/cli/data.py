"""`graphtrial data`: prepare and describe datasets."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from graphtrial.cli.common import Json, friendly, out, print_json

app = typer.Typer(help="Prepare and describe datasets.", no_args_is_help=True, rich_markup_mode=None)
Names = Annotated[list[str], typer.Argument(help="Datasets by name; `graphtrial list datasets` shows all.")]


@app.command()
@friendly
def prepare(
    names: Names,
    force: Annotated[bool, typer.Option(help="Prepare again even if it was kept.")] = False,
    json: Json = False,
) -> None:
    """Fetch, check and keep datasets. Example: graphtrial data prepare csl zinc"""
    from graphtrial.datasets import prepare as prepare_dataset

    made = []
    for name in names:
        dataset = prepare_dataset(name, force=force)
        made.append(
            {"name": name, "graphs": len(dataset.graphs), "source": dataset.provenance["source"], "hash": dataset.hash}
        )
        if not json:
            out.print(
                f"{name}: {len(dataset.graphs)} graphs from {dataset.provenance['source']}, hash {dataset.hash[:12]}"
            )
    if json:
        print_json(made)


@app.command()
@friendly
def info(name: Annotated[str, typer.Argument(help="A dataset.")], json: Json = False) -> None:
    """Describe a dataset: task, source, sizes, splits, statistics. Example: graphtrial data info zinc"""
    from graphtrial.datasets import info as facts_of

    facts = facts_of(name)
    if json:
        print_json(facts)
        return
    table = Table(title=f"{facts['name']}: {facts['title']}", title_justify="left", show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for key, value in facts.items():
        if key not in ("name", "title") and value not in (None, [], {}):
            table.add_row(key.replace("_", " "), _words(key, value))
    out.print(table)


def _words(key: str, value: Any) -> str:
    if key == "splits":
        sizes = {tuple(split.values()) for split in value}
        shown = ", ".join(" / ".join(map(str, size)) for size in sorted(sizes))
        return f"{len(value)} x train / val / test = {shown}"
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_words('', inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return (
            "\n".join(_flat(item) for item in value)
            if any(isinstance(v, dict) for v in value)
            else ", ".join(map(_flat, value))
        )
    return _flat(value)


def _flat(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items() if inner is not None)
    return str(value)
