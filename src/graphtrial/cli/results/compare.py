"""`graphtrial compare`, `graphtrial ranks` and `graphtrial export`: what the results say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.table import Table

from graphtrial.cli.common import Json, StorePath, friendly, names, out, print_json
from graphtrial.cli.results.see import IsShipped, store_of
from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.core.files import DEFAULT_STORE

Datasets = Annotated[str, typer.Option(help="Only on these datasets, such as csl,zinc; all by default.")]


@friendly
def compare(
    a: Annotated[str, typer.Argument(help="A model, such as gcn or gatedgcn-E/laplacian:8/layers=16.")],
    b: Annotated[str, typer.Argument(help="Another model, or the same with another encoding.")],
    datasets: Datasets = "",
    test: Annotated[str, typer.Option(help="permutation or wilcoxon.")] = "permutation",
    margin: Annotated[
        float | None, typer.Option(min=0, help="Equivalence margin in units of the metric; default 1 % of B's mean.")
    ] = None,
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Compare two models split by split, or seeds against seeds where there is one split.

    Example: graphtrial compare gatedgcn/laplacian:20 gcn/laplacian:20 --datasets csl
    """
    from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS
    from graphtrial.results.compare import EXPLANATION
    from graphtrial.results.compare import compare as compare_models
    from graphtrial.results.rows import result_rows
    from graphtrial.results.statistics.differences import Test

    if test not in get_args(Test):
        raise GraphTrialError(
            f"no test called '{test}'.{did_you_mean(test, get_args(Test))} Use permutation or wilcoxon."
        )
    rows = result_rows(store_of(store, shipped).trials())
    found = compare_models(rows, a, b, datasets=names(datasets), test=test, margin=margin)  # type: ignore[arg-type]
    if json:
        print_json([one.to_dict() for one in found])
        return
    columns = COMPARISON_COLUMNS.shown("terminal")
    table = Table(title=f"A = {a}, B = {b}", title_justify="left")
    for column in columns:
        table.add_column(column.heading, justify=column.align)
    for one in found:
        table.add_row(*(column.cell(one) for column in columns))
    out.print(table)
    for one in found:
        out.print(f"{one.dataset}: {one.words}", markup=False, soft_wrap=True)
        for note in one.notes:
            out.print(f"  note: {note}", markup=False, soft_wrap=True)
    named = {"permutation": "a permutation test within splits", "wilcoxon": "Wilcoxon's signed-rank or rank-sum test"}
    out.print(EXPLANATION.format(test=named[test]), markup=False, soft_wrap=True)


@friendly
def ranks(
    datasets: Datasets = "",
    models: Annotated[str, typer.Option(help="Only these models, such as gcn,gin,gatedgcn; all by default.")] = "",
    diagram: Annotated[Path | None, typer.Option(help="Draw the critical differences to this svg or png.")] = None,
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Rank models over several datasets, with Friedman's and Nemenyi's tests.

    Example: graphtrial ranks --datasets zinc,aqsol,csl --diagram ranks.svg
    """
    from graphtrial.results.compare import matches
    from graphtrial.results.rows import ResultRows, result_rows
    from graphtrial.results.statistics.ranks import EXPLANATION, rank_rows

    rows = result_rows(store_of(store, shipped).trials())
    if models:
        rows = ResultRows(row for row in rows if any(matches(row, wanted) for wanted in names(models)))
    found = rank_rows(rows, names(datasets))
    if diagram is not None:
        from graphtrial.report.diagram import draw_ranks

        draw_ranks(found, diagram)
    if json:
        print_json(found.to_dict())
        return
    table = Table("model", "mean rank", *found.datasets)
    for i, model in enumerate(found.models):
        table.add_row(model, f"{found.mean_ranks[i]:.2f}", *(f"{scores[i]:.3f}" for scores in found.scores))
    out.print(table)
    out.print(f"{found.words} Critical difference: {found.critical_difference:.2f}.", markup=False, soft_wrap=True)
    if found.left_out:
        out.print(f"Left out, for want of some dataset: {', '.join(found.left_out)}.", markup=False, soft_wrap=True)
    out.print(EXPLANATION, markup=False, soft_wrap=True)
    if diagram is not None:
        out.print(f"diagram: {diagram}")


@friendly
def export(
    table: Annotated[
        str, typer.Argument(help="A study such as bgnn-v5/table-10, a dataset such as csl, or all.")
    ] = "all",
    format: Annotated[str, typer.Option(help="markdown, latex, csv or json.")] = "markdown",
    all_columns: Annotated[bool, typer.Option("--all-columns", help="LaTeX: all columns instead of eight.")] = False,
    to: Annotated[Path | None, typer.Option("--out", help="Write to this file instead of printing.")] = None,
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
) -> None:
    """Print a table of results for a paper, a page or a script.

    Example: graphtrial export csl --format latex
    """
    from graphtrial.core.files import write_text
    from graphtrial.results.export import export as export_rows
    from graphtrial.results.select import rows_of

    text = export_rows(rows_of(store_of(store, shipped), table), format, all_columns)
    if to is None:
        print(text, end="")
    else:
        write_text(to, text)
        out.print(str(to))
