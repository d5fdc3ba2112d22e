"""`graphtrial wikics`: build datasets from Wikipedia dumps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphtrial.cli.common import Allowed, Json, Plugins, StorePath, err, friendly, load_code, out, print_json
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import DEFAULT_STORE

if TYPE_CHECKING:
    from graphtrial.wikipedia import Pipeline, StageResult

app = typer.Typer(
    help="Build datasets like Wiki-CS from Wikipedia dumps, and plot them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Dumps = Annotated[Path, typer.Option(help="Folder of dumps: pages-articles XML, and SQL of page, redirect, pagelinks.")]
Glove = Annotated[Path | None, typer.Option(help="Word vectors in GloVe's text format.")]
Labels = Annotated[str | None, typer.Option(help="JSON file of classes and their categories, or compsci.")]
Links = Annotated[str, typer.Option(help="Source of links: tables (SQL) or text (wikitext).")]
Categories = Annotated[str, typer.Option(help="Source of categories: text (wikitext) or tables (SQL).")]
Milestones = Annotated[int, typer.Option(min=1, help="Number of milestone categories.")]
Exclude = Annotated[list[str] | None, typer.Option(help="Never a milestone: names with this; replaces the defaults.")]
Prune = Annotated[list[str] | None, typer.Option(help="Pruned: category names with this; replaces the defaults.")]
Centrality = Annotated[str, typer.Option(help="Harmonic centrality: auto, exact or hyperball.")]
StopWords = Annotated[Path | None, typer.Option(help="File of stop words, one per line; English ones by default.")]
Punkt = Annotated[Path | None, typer.Option(help="Folder of NLTK's punkt_tab for the language of the texts.")]
Truncated = Annotated[bool, typer.Option("--allow-truncated", help="Accept truncated files, up to the damage.")]
Memory = Annotated[float, typer.Option(min=0.5, help="Memory limit of joins in GB; the rest spills to disk.")]
Work = Annotated[Path | None, typer.Option(help="Folder of the cached stages; in the cache by default.")]


@app.command()
@friendly
def build(
    dumps: Dumps,
    glove: Glove,
    labels: Labels,
    out_name: Annotated[str, typer.Option("--out", help="Name of the dataset.")],
    links: Links = "tables",
    categories: Categories = "text",
    milestones: Milestones = 10_000,
    exclude: Exclude = None,
    prune: Prune = None,
    centrality: Centrality = "auto",
    stop_words: StopWords = None,
    punkt: Punkt = None,
    validation: Annotated[str, typer.Option(help="Validation set: merged, val or stopping.")] = "merged",
    allow_truncated: Truncated = False,
    memory: Memory = 8.0,
    work: Work = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a dataset of yours of that name.")] = False,
    json: Json = False,
) -> None:
    """Build a dataset from dumps; finished stages are reused from the cache.

    Example: graphtrial wikics build --dumps enwiki --glove glove.6B.300d.txt --labels compsci --out my-wikics
    """
    rules = (milestones, exclude, prune, centrality)
    run = _pipeline(dumps, glove, labels, links, categories, rules, stop_words, punkt, allow_truncated, memory, work)
    if validation not in ("merged", "val", "stopping"):
        raise GraphTrialError(f"--validation is merged, val or stopping, not '{validation}'")
    dataset = run.keep(out_name, validation, replace=replace)  # type: ignore[arg-type]
    report, folder = run.export.report, run.export.folder
    if json:
        print_json({"name": out_name, "hash": dataset.hash, "folder": str(folder), **report})
        return
    out.print(f"{out_name}: {report['nodes']:,} articles, {report['links']:,} links, hash {dataset.hash[:12]}")
    out.print(f"data.json and metadata.json are in {folder}", soft_wrap=True)
    out.print(f"graphtrial run {out_name} gcn trains on it")


@app.command()
@friendly
def stage(
    name: Annotated[
        str, typer.Argument(help="tables, articles, categories, labels, texts, links, features or export.")
    ],
    dumps: Dumps,
    glove: Glove = None,
    labels: Labels = None,
    links: Links = "tables",
    categories: Categories = "text",
    milestones: Milestones = 10_000,
    exclude: Exclude = None,
    prune: Prune = None,
    centrality: Centrality = "auto",
    stop_words: StopWords = None,
    punkt: Punkt = None,
    allow_truncated: Truncated = False,
    memory: Memory = 8.0,
    work: Work = None,
) -> None:
    """Run one stage and its dependencies; print the folders.

    Example: graphtrial wikics stage categories --dumps enwiki
    """
    rules = (milestones, exclude, prune, centrality)
    run = _pipeline(dumps, glove, labels, links, categories, rules, stop_words, punkt, allow_truncated, memory, work)
    for result in run.run(name):
        out.print(str(result.folder), soft_wrap=True)


@app.command()
@friendly
def generate(
    folder: Annotated[Path, typer.Option("--out", help="A new folder for dumps, glove.txt and labels.json.")],
    articles: Annotated[int, typer.Option(min=100, help="Number of articles.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the synthetic wiki.")] = 0,
    old: Annotated[bool, typer.Option("--old", help="The schema of dumps before 2024.")] = False,
) -> None:
    """Write dumps of a synthetic wiki, to try the pipeline with; build with --milestones 11.

    Example: graphtrial wikics generate --out synthetic --articles 10000
    """
    from graphtrial.wikipedia import Wiki, write_wiki

    if folder.exists():
        raise GraphTrialError(f"{folder} is there already; name a folder that is not")
    wiki = Wiki(articles, seed, modern=not old)
    write_wiki(wiki, folder)
    out.print(f"{folder}: {wiki.articles:,} articles, {wiki.redirects:,} redirects, {wiki.categories:,} categories")


@app.command()
@friendly
def mapper(
    name: Annotated[str, typer.Argument(help="A dataset of one graph whose nodes have classes, such as cora.")],
    to: Annotated[Path, typer.Option("--out", help="The picture: a file that ends in .png or .svg.")],
    trial: Annotated[
        list[str] | None, typer.Option(help="Also colour by the predictions of this trial's model; may be repeated.")
    ] = None,
    intervals: Annotated[int, typer.Option(min=1, help="Cells along each axis of the lens.")] = 20,
    overlap: Annotated[float, typer.Option(min=0.0, max=0.9, help="Overlap of cells, a fraction of the width.")] = 0.2,
    weakest: Annotated[float, typer.Option(min=0.0, max=0.99, help="Minimum weight of plotted edges.")] = 0.05,
    fewest: Annotated[int, typer.Option(min=0, help="Minimum number of nodes of plotted components.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the lens.")] = 0,
    plugin: Plugins = None,
    allow: Allowed = None,
    store: StorePath = DEFAULT_STORE,
) -> None:
    """Plot the Mapper graph of an unsupervised node embedding (Deep Graph Mapper).

    Example: graphtrial wikics mapper cora --out cora-mapper.png
    """
    load_code(plugin, allow, name)
    from graphtrial.datasets import load
    from graphtrial.plots.mapper import MapperRules, lens_of, mapper_graph
    from graphtrial.plots.mapper_plot import classes_of, plot_mapper

    if to.suffix not in (".png", ".svg"):
        raise GraphTrialError(f"--out must end in .png or .svg, not '{to.name}'")
    dataset = load(name)
    colourings = {"the true class": classes_of(dataset)}
    if trial:
        colourings |= _predictions(trial, store, dataset.hash)
    graph = mapper_graph(dataset.graphs, lens_of(dataset, seed=seed), MapperRules(intervals, overlap, weakest, fewest))
    out.print(str(plot_mapper(dataset, graph, colourings, to)), soft_wrap=True)


def _predictions(trials: list[str], path: Path, data: str) -> dict[str, Any]:
    """Return the predicted class of each node by the model of each trial, by caption."""
    from graphtrial.trials import Store
    from graphtrial.trials.predictions import predicted_classes

    store, predictions = Store(path, read_only=True), {}
    for prefix in trials:
        record = store.find(prefix)
        if record.spec.data != data:
            raise GraphTrialError(f"trial {record.id} is about {record.spec.dataset}, which has other nodes or splits")
        accuracy = f", accuracy {record.scores['test']:.1f} %" if "test" in record.scores else ""
        caption = f"predictions of {record.spec.model.name} (trial {record.id}{accuracy})"
        predictions[caption] = predicted_classes(record, store)
    return predictions


def _pipeline(
    dumps: Path,
    glove: Path | None,
    labels: str | None,
    links: str,
    categories: str,
    rules: tuple[int, list[str] | None, list[str] | None, str],
    stop_words: Path | None,
    punkt: Path | None,
    allow_truncated: bool,
    memory: float,
    work: Path | None,
) -> Pipeline:
    from graphtrial.wikipedia import (
        EXCLUDED,
        PRUNED,
        CategoryRules,
        Pipeline,
        TextRules,
        find_dumps,
        read_mapping,
        stage_cache,
    )

    for option, value in (("--links", links), ("--categories", categories)):
        if value not in ("tables", "text"):
            raise GraphTrialError(f"{option} is tables or text, not '{value}'")
    milestones, exclude, prune, centrality = rules
    excluded = EXCLUDED if exclude is None else tuple(filter(None, exclude))
    pruned = PRUNED if prune is None else tuple(filter(None, prune))
    return Pipeline(
        stage_cache(work, _report_stage),
        find_dumps(dumps),
        read_mapping(labels) if labels else None,
        glove,
        CategoryRules(milestones, excluded, pruned, centrality),
        TextRules(stop_words, punkt),
        links,  # type: ignore[arg-type]
        categories,  # type: ignore[arg-type]
        allow_truncated,
        memory,
    )


def _report_stage(result: StageResult) -> None:
    """Print one line per finished stage, and warnings about broken input."""
    facts = ", ".join(f"{key} {_short(value)}" for key, value in result.report.items() if value not in ("", [], False))
    how = "cached" if result.is_cached else f"{result.seconds:.1f} s"
    err.print(f"{result.name} ({how}): {facts}", markup=False, soft_wrap=True)
    for problem in ("broken", "repaired", "truncated"):
        if result.report.get(problem):
            number = result.report[problem]
            message = (
                "the file is truncated" if problem == "truncated" else f"{number:,} {problem} rows, pages or lines"
            )
            err.print(f"warning: {result.report.get('file', result.name)}: {message}", markup=False, soft_wrap=True)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {inner:,}" for key, inner in value.items()) + ")"
    if isinstance(value, list):
        return "(" + ", ".join(map(str, value[:10])) + (", ..." if len(value) > 10 else "") + ")"
    return f"{value:,}" if isinstance(value, int) else str(value)
