"""`graphtrial data generate`: artificial datasets of the user's own size, parameters and seed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphtrial.cli.common import Json, friendly, out, print_json
from graphtrial.core.errors import GraphTrialError

app = typer.Typer(help="Make a dataset of your own by a generator.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Option(help="What the dataset shall be called.")]
Graphs = Annotated[str, typer.Option(help="How many: 1000 for 8:1:1, or train/val/test as 800/100/100.")]
Seed = Annotated[int, typer.Option(min=0, help="Another seed gives other graphs of the same kind.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a dataset of yours of that name.")]


@app.command()
@friendly
def sbm(
    name: Name,
    graphs: Graphs = "1000",
    kind: Annotated[
        str, typer.Option(help="pattern (find a hidden pattern) or cluster (tell communities).")
    ] = "pattern",
    communities: Annotated[int | None, typer.Option(min=1, help="5 with a pattern, else 6.")] = None,
    smallest: Annotated[int, typer.Option(min=1, help="Nodes of the smallest community.")] = 5,
    largest: Annotated[int, typer.Option(min=1, help="Nodes of the largest community.")] = 34,
    p: Annotated[float | None, typer.Option(help="Edges inside a community; 0.5 with a pattern, else 0.55.")] = None,
    q: Annotated[float | None, typer.Option(help="Edges between communities; 0.35 with a pattern, else 0.25.")] = None,
    patterns: Annotated[int, typer.Option(min=1, help="How many different patterns.")] = 100,
    inside: Annotated[float, typer.Option(help="Edges inside a pattern.")] = 0.5,
    outside: Annotated[float, typer.Option(help="Edges between a pattern and the rest.")] = 0.5,
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
    _make(name, kind, {"sizes": sizes_of(graphs), "seed": seed, **arguments}, replace, json)


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
    _make(name, "tsp", arguments, replace, json)


@app.command()
@friendly
def cycles(
    name: Name,
    graphs: Graphs = "1000",
    length: Annotated[int, typer.Option(min=3, help="The cycle that half of the graphs have.")] = 6,
    smallest: Annotated[int, typer.Option(min=6, help="Nodes of the smallest graph.")] = 37,
    spread: Annotated[int, typer.Option(min=0, help="A graph has up to four times as many nodes more.")] = 6,
    trees: Annotated[int, typer.Option(min=0, help="A graph has up to twice as many trees.")] = 5,
    longest: Annotated[int, typer.Option(min=3, help="The longest second cycle.")] = 12,
    seed: Seed = 0,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Sparse graphs with and without a cycle of a given length, as in CYCLES.

    Example: graphtrial data generate cycles --length 8 --longest 16 --graphs 2000 --name cycles-of-8
    """
    arguments = {"length": length, "smallest": smallest, "spread": spread, "trees": trees, "longest": longest}
    _make(name, "cycles", {"sizes": sizes_of(graphs), "seed": seed, **arguments}, replace, json)


@app.command("graph-theory")
@friendly
def graph_theory(
    name: Name,
    graphs: Graphs = "1000",
    smallest: Annotated[int, typer.Option(min=3, help="Nodes of the smallest graphs.")] = 15,
    largest: Annotated[int, typer.Option(min=3, max=31, help="Nodes of the largest graphs.")] = 24,
    as_published: Annotated[bool, typer.Option("--as-published", help="With the slips of the published data.")] = False,
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
    _make(name, "graph-theory", {"sizes": sizes_of(graphs), "seed": seed, **arguments}, replace, json)


@app.command()
@friendly
def csl(
    name: Name,
    nodes: Annotated[int, typer.Option(min=5, help="Nodes of each graph.")] = 41,
    skips: Annotated[str, typer.Option(help="The skip of each class.")] = "2,3,4,5,6,9,11,12,13,16",
    copies: Annotated[int, typer.Option(min=1, help="Graphs of each class.")] = 15,
    folds: Annotated[int, typer.Option(min=3, help="Stratified folds.")] = 5,
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
    _make(name, "csl", arguments, replace, json, {"folds": folds, "seed": seed})


def sizes_of(text: str) -> list[int]:
    """Read how many graphs to train on, to validate on and to test on; one number is divided 8:1:1."""
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


def _make(
    name: str, kind: str, arguments: dict[str, Any], replace: bool, json: bool, split: dict[str, Any] | None = None
) -> None:
    from graphtrial.datasets.custom import generate

    made = generate(name, kind, arguments, split=split, replace=replace)
    if json:
        print_json({"name": name, "graphs": len(made.graphs), "task": made.task.name, "hash": made.hash})
        return
    out.print(f"{name}: {len(made.graphs)} graphs, {made.task.name}, hash {made.hash[:12]}")
    out.print(f"graphtrial data info {name} tells more; graphtrial run {name} MODEL trains on it")
