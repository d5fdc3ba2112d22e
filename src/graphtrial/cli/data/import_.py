"""`graphtrial data import` and `graphtrial data delete`: the user's own graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphtrial.cli.common import Json, friendly, out, print_json
from graphtrial.core.errors import GraphTrialError


@friendly
def import_file(
    file: Annotated[
        Path, typer.Argument(help="A .jsonl, .parquet, .pt, .graphml, .edgelist or TU .zip file, or folder.")
    ],
    name: Annotated[str, typer.Option(help="What the dataset shall be called.")],
    task: Annotated[
        str | None, typer.Option(help="As `graphtrial list tasks` shows; by default what y suggests.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="jsonl, parquet, pyg, graphml, edgelist or tu.")] = None,
    folds: Annotated[int | None, typer.Option(min=3, help="So many stratified folds.")] = None,
    split: Annotated[
        str | None, typer.Option(help="Shares of train/val/test, by default 0.8/0.1/0.1 where the data name no split.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the random split; 0 by default.")] = None,
    both_ways: Annotated[bool, typer.Option("--both-ways", help="Add the other direction of each edge.")] = False,
    labels: Annotated[Path | None, typer.Option(help="Edge lists: a file with each node and its class.")] = None,
    node_features: Annotated[str, typer.Option(help="GraphML: attributes that become x.")] = "",
    edge_features: Annotated[str, typer.Option(help="GraphML: attributes that become edge_attr.")] = "",
    target: Annotated[str | None, typer.Option(help="GraphML: the graphs' attribute to predict.")] = None,
    node_target: Annotated[str | None, typer.Option(help="GraphML: the nodes' attribute to predict.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Training rules for runs that name none.")] = None,
    licence: Annotated[str, typer.Option(help="Under which the data may be used.")] = "not stated",
    title: Annotated[str, typer.Option(help="One line that says what it is.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a dataset of yours of that name.")] = False,
    json: Json = False,
) -> None:
    """Keep graphs of your own as a dataset; docs/your-data.md shows the formats.

    Example: graphtrial data import molecules.jsonl --name my-molecules --folds 10
    """
    from graphtrial.datasets.base import PARTS
    from graphtrial.datasets.custom import import_files
    from graphtrial.datasets.custom.importers import format_of
    from graphtrial.graphs.mask_names import PART

    known, paths = (format, [file]) if format and not file.is_dir() else format_of(file)
    options: dict[str, Any] = {"both_ways": True} if both_ways else {}
    if known == "graphml":
        options |= {"node_features": _words(node_features), "edge_features": _words(edge_features)}
        options |= {"target": target, "node_target": node_target}
    elif node_features or edge_features or target or node_target:
        raise GraphTrialError(
            f"--target, --node-target, --node-features and --edge-features name attributes of GraphML, not of {known}"
        )
    if labels is not None and known != "edgelist":
        raise GraphTrialError(f"--labels is for edgelist, not for {known}")
    if both_ways and known not in ("jsonl", "parquet", "edgelist"):
        raise GraphTrialError(f"--both-ways is for jsonl, parquet and edgelist, not for {known}")
    if labels is not None:
        paths = [*paths, labels]
    if folds and split:
        raise GraphTrialError("--folds and --split are two ways to divide the data; give one of them")
    rule: dict[str, Any] = {"folds": folds} if folds else {"shares": _shares(split or "0.8/0.1/0.1")}
    drawn = folds is not None or split is not None or seed is not None
    made = import_files(
        name,
        known,
        paths,
        arguments=options,
        split={**rule, "seed": seed or 0} if drawn else None,
        task=task,
        protocol=protocol,
        licence=licence,
        title=title,
        replace=replace,
    )
    if json:
        splits = [dict(zip(PARTS, one.sizes, strict=True)) for one in made.splits]
        facts = {"name": name, "graphs": len(made.graphs), "task": made.task.name, "hash": made.hash}
        print_json({**facts, "split_level": made.spec.split_level, "splits": splits})
        return
    out.print(f"{name}: {len(made.graphs)} graphs from {known}, {made.task.name}, hash {made.hash[:12]}")
    sizes = sorted({" / ".join(map(str, one.sizes)) for one in made.splits})
    whose = "as the data name them" if PART in made.graphs.columns else "drawn at random"
    what = f"{len(made.splits)} x train / val / test = {', '.join(sizes)} {made.spec.split_level}s"
    out.print(f"splits, {whose}: {what}")
    out.print(f"graphtrial data info {name} tells more; graphtrial run {name} MODEL --protocol P trains on it")


@friendly
def delete(name: Annotated[str, typer.Argument(help="A dataset that you generated or imported.")]) -> None:
    """Remove a dataset of your own.

    Example: graphtrial data delete my-molecules
    """
    from graphtrial.datasets.custom import delete as delete_dataset

    delete_dataset(name)
    out.print(f"{name} is deleted; results of trials on it stay in their store")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _shares(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split("/")]
    except ValueError:
        raise GraphTrialError(f"--split is three shares such as 0.8/0.1/0.1, not '{text}'") from None
