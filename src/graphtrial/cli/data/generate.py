"""`graphtrial data generate`: synthetic datasets of any size, parameters and seed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphtrial.cli.common import Json, friendly, out, print_json
from graphtrial.core.errors import GraphTrialError

app = typer.Typer(help="Generate a synthetic dataset.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Option(help="Name of the new dataset.")]
Graphs = Annotated[str, typer.Option(help="Number of graphs, split 8:1:1, or train/val/test as 800/100/100.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed of the generator.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace an existing custom dataset of that name.")]


@app.command()
@friendly
def sbm(
    name: Name,
    graphs: Graphs = "1000",
    kind: Annotated[
        str, typer.Option(help="pattern (detect an embedded pattern) or cluster (predict communities).")
    ] = "pattern",
    communities: Annotated[
        int | None, typer.Option(min=1, help="Number of communities; 5 for pattern, 6 for cluster.")
    ] = None,
    smallest: Annotated[int, typer.Option(min=1, help="Nodes of the smallest community.")] = 5,
    largest: Annotated[int, typer.Option(min=1, help="Nodes of the largest community.")] = 34,
    p: Annotated[
        float | None, typer.Option(help="Edge probability within communities; 0.5 for pattern, 0.55 for cluster.")
    ] = None,
    q: Annotated[
        float | None, typer.Option(help="Edge probability between communities; 0.35 for pattern, 0.25 for cluster.")
    ] = None,
    patterns: Annotated[int, typer.Option(min=1, help="Number of patterns.")] = 100,
    inside: Annotated[float, typer.Option(help="Edge probability within a pattern.")] = 0.5,
    outside: Annotated[float, typer.Option(help="Edge probability between pattern and communities.")] = 0.5,
    seed: Seed = 0,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Stochastic block models, as in PATTERN and CLUSTER.

    Example: graphtrial data generate sbm --p 0.5 --q 0.35 --graphs 1000 --name my-sbm
    """
    if kind not in ("pattern", "cluster"):
        raise GraphTrialError(f"--kind is pattern or cluster, not '{kind}'")
    hidden = kind == "pattern"
    arguments = {
        "communities": communities or (5 if hidden else 6),
        "p": p if p is not None else (0.5 if hidden else 0.55),
        "q": q if q is not None else (0.35 if hidden else 0.25),
        "smallest": smallest,
        "largest": largest,
    }
    if hidden:
        arguments |= {"patterns": patterns, "inside": inside, "outside": outside}
    _generate(name, kind, {"sizes": sizes_of(graphs), "seed": seed, **arguments}, replace, json)


@app.command()
@friendly
def tsp(
    name: Name,
    graphs: Graphs = "100",
    low: Annotated[int, typer.Option(min=5, help="Points of the smallest instance.")] = 50,
    high: Annotated[int, typer.Option(min=5, help="Points of the largest instance.")] = 100,
    metric: Annotated[str, typer.Option(help="euclidean, or geographic as the published tours.")] = "euclidean",
    seed: Seed = 0,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Random points with their shortest tours, proved to be so, as in TSP.

    Example: graphtrial data generate tsp --low 50 --high 100 --graphs 200 --name my-tours
    """
    arguments = {"sizes": sizes_of(graphs), "seed": seed, "low": low, "high": high, "metric": metric}
    _generate(name, "tsp", arguments, replace, json)


@app.command()
@friendly
def cycles(
    name: Name,
    graphs: Graphs = "1000",
    length: Annotated[int, typer.Option(min=3, help="Cycle length to detect, present in half of the graphs.")] = 6,
    smallest: Annotated[int, typer.Option(min=6, help="Nodes of the smallest graph.")] = 37,
    spread: Annotated[int, typer.Option(min=0, help="Up to 4 x spread additional nodes per graph.")] = 6,
    trees: Annotated[int, typer.Option(min=0, help="Up to 2 x trees trees per graph.")] = 5,
    longest: Annotated[int, typer.Option(min=3, help="Maximum length of the second cycle.")] = 12,
    seed: Seed = 0,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Sparse graphs with and without a cycle of a given length, as in CYCLES.

    Example: graphtrial data generate cycles --length 8 --longest 16 --graphs 2000 --name cycles-of-8
    """
    arguments = {"length": length, "smallest": smallest, "spread": spread, "trees": trees, "longest": longest}
    _generate(name, "cycles", {"sizes": sizes_of(graphs), "seed": seed, **arguments}, replace, json)


@app.command("graph-theory")
@friendly
def graph_theory(
    name: Name,
    graphs: Graphs = "1000",
    smallest: Annotated[int, typer.Option(min=3, help="Nodes of the smallest graphs.")] = 15,
    largest: Annotated[int, typer.Option(min=3, max=31, help="Nodes of the largest graphs.")] = 24,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Reproduce the two errors of the published data.")
    ] = False,
    seed: Seed = 1234,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Small graphs of ten families with six properties, as in GraphTheoryProp.

    Example: graphtrial data generate graph-theory --smallest 20 --largest 29 --graphs 1000 --name larger
    """
    if largest < smallest:
        raise GraphTrialError(f"--largest {largest} is below --smallest {smallest}")
    arguments = {"smallest": smallest, "largest": largest, "as_published": as_published}
    _generate(name, "graph-theory", {"sizes": sizes_of(graphs), "seed": seed, **arguments}, replace, json)


@app.command()
@friendly
def csl(
    name: Name,
    nodes: Annotated[int, typer.Option(min=5, help="Nodes of each graph.")] = 41,
    skips: Annotated[str, typer.Option(help="Skip length of each class, comma-separated.")] = "2,3,4,5,6,9,11,12,13,16",
    copies: Annotated[int, typer.Option(min=1, help="Graphs per class.")] = 15,
    folds: Annotated[int, typer.Option(min=3, help="Number of stratified folds.")] = 5,
    seed: Seed = 0,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Circular skip links of any size, as in CSL.

    Example: graphtrial data generate csl --nodes 61 --skips 2,3,4,5 --copies 30 --name csl-61
    """
    try:
        steps = [int(skip) for skip in skips.split(",")]
    except ValueError:
        raise GraphTrialError(f"--skips are integers such as 2,3,5, not '{skips}'") from None
    arguments = {"seed": seed, "nodes": nodes, "skips": steps, "copies": copies}
    _generate(name, "csl", arguments, replace, json, {"folds": folds, "seed": seed})


def sizes_of(text: str) -> list[int]:
    """Parse the numbers of train, validation and test graphs; a single number is split 8:1:1."""
    try:
        numbers = [int(part) for part in text.split("/")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        tenth = numbers[0] // 10
        numbers = [numbers[0] - 2 * tenth, tenth, tenth]
    if len(numbers) != 3 or min(numbers) < 1:
        raise GraphTrialError(f"--graphs is a number from 10, or three from 1 such as 800/100/100, not '{text}'")
    return numbers


def _generate(
    name: str, kind: str, arguments: dict[str, Any], replace: bool, json: bool, split: dict[str, Any] | None = None
) -> None:
    from graphtrial.datasets.custom import generate

    dataset = generate(name, kind, arguments, split=split, replace=replace)
    if json:
        print_json({"name": name, "graphs": len(dataset.graphs), "task": dataset.task.name, "hash": dataset.hash})
        return
    out.print(f"{name}: {len(dataset.graphs)} graphs, {dataset.task.name}, hash {dataset.hash[:12]}")
    out.print(f"graphtrial data info {name} shows details; graphtrial run {name} MODEL trains on it")
