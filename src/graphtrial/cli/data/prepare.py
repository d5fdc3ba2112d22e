"""`graphtrial data`: prepare and describe datasets."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphtrial.cli.common import Allowed, Json, Plugins, friendly, load_code, out, print_json
from graphtrial.cli.completion import complete_dataset
from graphtrial.cli.data import check, export, generate, import_, plot
from graphtrial.core.terminal import TableColumn, TerminalTable

app = typer.Typer(help="Prepare, describe and draw datasets.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(generate.app, name="generate")
app.command("import")(import_.import_file)
app.command("export")(export.export)
app.command("delete")(import_.delete)
app.command("check")(check.check)
app.command("plot")(plot.plot)
Names = Annotated[
    list[str],
    typer.Argument(help="Datasets by name; `graphtrial list datasets` shows all.", autocompletion=complete_dataset),
]


@app.command()
@friendly
def prepare(
    names: Names,
    force: Annotated[bool, typer.Option(help="Ignore the cache and prepare again.")] = False,
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Download, validate and cache datasets.

    Example: graphtrial data prepare csl zinc
    """
    load_code(plugin, allow, *names)
    from graphtrial.datasets import DATASETS
    from graphtrial.datasets import prepare as prepare_dataset

    rows = []
    for name in names:  # fail on a misspelt name before any download
        DATASETS.get(name)
    for name in names:
        dataset = prepare_dataset(name, force=force)
        rows.append(
            {"name": name, "graphs": len(dataset.graphs), "source": dataset.provenance["source"], "hash": dataset.hash}
        )
        if not json:
            out.print(
                f"{name}: {len(dataset.graphs)} graphs from {dataset.provenance['source']}, hash {dataset.hash[:12]}"
            )
    if json:
        print_json(rows)


@app.command()
@friendly
def info(
    name: Annotated[str, typer.Argument(help="A dataset.", autocompletion=complete_dataset)],
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Describe a dataset: task, source, sizes, splits, statistics.

    Example: graphtrial data info zinc
    """
    load_code(plugin, allow, name)
    from graphtrial.datasets import info as facts_of

    facts = facts_of(name)
    if json:
        print_json(facts)
        return
    title = facts["title"] if facts["title"].startswith(facts["name"]) else f"{facts['name']}: {facts['title']}"
    table = TerminalTable(TableColumn("", style="bold"), TableColumn(""), title=title, show_header=False)
    for key, value in facts.items():
        if key not in ("name", "title") and value not in (None, [], {}):
            table.add_row(key.replace("_", " "), _words(key, value))
    out.print(table)


def _words(key: str, value: Any) -> str:
    if key == "splits":
        sizes = sorted({tuple(split.values()) for split in value})
        return f"{len(value)} x train / val / test = " + ", ".join(" / ".join(map(str, size)) for size in sizes)
    if key == "statistics":
        return "\n".join(
            f"{s['what']}: {_flat(s['ours'])}, published {_flat(s['published'])} "
            f"({'agrees' if s['agrees'] else 'DIFFERS'}: {s['rule']})"
            for s in value
        )
    if key == "files":
        return "\n".join(f"{file['name']}, sha256 {file['sha256']}" for file in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    return "\n".join(map(_flat, value)) if isinstance(value, list | tuple) else _flat(value)


def _flat(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " / ".join(map(_flat, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
