"""`graphtrial data import` and `graphtrial data delete`: custom datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphtrial.cli.common import Json, friendly, out, print_json
from graphtrial.cli.completion import complete_dataset
from graphtrial.core.errors import GraphTrialError


@friendly
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            help="A .jsonl, .parquet, .pt, .csv, .graphml, .gml, .json, .edgelist or TU .zip file, or a folder; or a "
            "dataset of a library: pyg:Planetoid/Cora, ogb:ogbg-molhiv, lrgb:peptides-func."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="Name of the new dataset; one of a library has a default, pyg-planetoid-cora.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task, see `graphtrial list tasks`; inferred from y by default.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="File format: jsonl, parquet, pyg, csv, graphml, gml, node-link, edgelist or tu; inferred by default."
        ),
    ] = None,
    folds: Annotated[int | None, typer.Option(min=3, help="Number of stratified cross-validation folds.")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Fractions train/val/test of a stratified split; 0.8/0.1/0.1 if the data have none."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Link prediction: hold out the latest links by this edge column, such as edge_time."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed of the split; 0 by default.")] = None,
    both_ways: Annotated[
        bool, typer.Option("--both-ways", help="Add the reverse of each edge (undirected graphs).")
    ] = False,
    labels: Annotated[Path | None, typer.Option(help="Edge lists: file with the class of each node.")] = None,
    node_features: Annotated[str, typer.Option(help="Node attributes or columns for x, comma-separated.")] = "",
    edge_features: Annotated[str, typer.Option(help="Edge attributes or columns for edge_attr.")] = "",
    target: Annotated[str | None, typer.Option(help="Graph attribute or column to predict.")] = None,
    node_target: Annotated[str | None, typer.Option(help="Node attribute or column to predict.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Default training protocol.")] = None,
    licence: Annotated[str, typer.Option(help="Licence of the data, such as CC-BY-4.0.")] = "not stated",
    title: Annotated[str, typer.Option(help="One-line description.")] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing custom dataset of that name.")
    ] = False,
    json: Json = False,
) -> None:
    """Import graphs as a custom dataset; docs/your-data.md describes the formats.

    Example: graphtrial data import molecules.jsonl --name my-molecules --folds 10
    """
    from graphtrial.datasets.base import PARTS
    from graphtrial.datasets.custom import import_files
    from graphtrial.datasets.custom.held_out_links import predicts_links
    from graphtrial.datasets.custom.importers import format_of
    from graphtrial.datasets.custom.library.names import is_library_name
    from graphtrial.datasets.custom.library.resolve import import_library
    from graphtrial.graphs.mask_names import PART

    library = is_library_name(str(file))
    paths: list[Path]
    if library:
        file_format, paths = "library", []
    else:
        file_format, paths = (format, [file]) if format and not file.is_dir() else format_of(file)
    given: dict[str, Any] = {"both_ways": both_ways, "target": target, "node_target": node_target}
    given |= {"node_features": _words(node_features), "edge_features": _words(edge_features)}
    options = {key: value for key, value in given.items() if value}
    _check_options(options, file_format)
    if labels is not None and file_format != "edgelist":
        raise GraphTrialError(f"--labels is for edgelist, not for {file_format}")
    if labels is not None:
        paths = [*paths, labels]
    if time is not None and (seed is not None or folds):
        raise GraphTrialError("--time holds out the latest links, without --folds and --seed")
    if folds and split:
        raise GraphTrialError("--folds and --split are two ways to divide the data; give one of them")
    rule: dict[str, Any] = {"folds": folds} if folds else {"shares": _fractions(split or "0.8/0.1/0.1")}
    rule = {} if split is None and not folds and predicts_links(task) else rule
    rule |= {"seed": seed or 0} if time is None else {"time": time}
    chosen = any(option is not None for option in (folds, split, seed, time))
    common: dict[str, Any] = {"split": rule if chosen else None, "task": task, "protocol": protocol}
    common |= {"licence": licence, "title": title, "replace": replace}
    if library:
        dataset = import_library(str(file), name, **common)
    elif name is None:
        raise GraphTrialError("name the new dataset by --name")
    else:
        dataset = import_files(name, file_format, paths, arguments=options, **common)
    name = dataset.name
    if json:
        splits = [dict(zip(PARTS, each.sizes, strict=True)) for each in dataset.splits]
        facts = {"name": name, "graphs": len(dataset.graphs), "task": dataset.task.name, "hash": dataset.hash}
        print_json({**facts, "split_level": dataset.spec.split_level, "splits": splits})
        return
    count = len(dataset.graphs)
    source = str(file) if library else file_format
    out.print(f"{name}: {count} graphs from {source}, {dataset.task.name}, hash {dataset.hash[:12]}")
    sizes = sorted({" / ".join(map(str, each.sizes)) for each in dataset.splits})
    origin = "from the data" if PART in dataset.graphs.columns else "drawn at random"
    counts = f"{len(dataset.splits)} x train / val / test = {', '.join(sizes)} {dataset.spec.split_level}s"
    out.print(f"splits, {origin}: {counts}")
    out.print(f"rules by default: {dataset.spec.protocol}; --protocol chooses others")
    out.print(f"graphtrial data info {name} shows details; graphtrial run {name} gcn --budget 100k trains on it")


@friendly
def delete(
    name: Annotated[str, typer.Argument(help="A generated or imported dataset.", autocompletion=complete_dataset)],
) -> None:
    """Delete a custom dataset.

    Example: graphtrial data delete my-molecules
    """
    from graphtrial.datasets.custom import delete as delete_dataset

    delete_dataset(name)
    out.print(f"{name} is deleted; results of trials on it stay in their store")


def _check_options(options: dict[str, Any], file_format: str) -> None:
    """Raise for an option that the reader of the format does not have."""
    from graphtrial.datasets.custom.importers import FORMATS, options_of

    for key in options:
        if file_format in FORMATS and key not in options_of(file_format):
            names = ", ".join(name for name in FORMATS if key in options_of(name))
            raise GraphTrialError(f"--{key.replace('_', '-')} is for {names}, not for {file_format}")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split("/")]
    except ValueError:
        raise GraphTrialError(f"--split is three fractions such as 0.8/0.1/0.1, not '{text}'") from None
