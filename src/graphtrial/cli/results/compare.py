"""`graphtrial compare`, `graphtrial ranks` and `graphtrial export`: comparisons, ranks and tables of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

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
    test: Annotated[str, typer.Option(help="Test: permutation or wilcoxon.")] = "permutation",
    margin: Annotated[
        float | None, typer.Option(min=0, help="Equivalence margin in units of the metric; default 1 % of B's mean.")
    ] = None,
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Compare two models, paired by split, or as independent samples of seeds on a single split.

    Example: graphtrial compare gatedgcn/laplacian:20 gcn/laplacian:20 --datasets csl
    """
    from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS
    from graphtrial.results.columns.terminal import terminal_table
    from graphtrial.results.compare import compare as compare_models
    from graphtrial.results.comparison import EXPLANATION
    from graphtrial.results.select import stored_rows
    from graphtrial.results.statistics.differences import Test

    if test not in get_args(Test):
        raise GraphTrialError(
            f"no test called '{test}'.{did_you_mean(test, get_args(Test))} Use permutation or wilcoxon."
        )
    rows = stored_rows(store_of(store, shipped))
    comparisons = compare_models(rows, a, b, datasets=names(datasets), test=test, margin=margin)  # type: ignore[arg-type]
    if json:
        print_json([comparison.to_dict() for comparison in comparisons])
        return
    out.print(terminal_table(COMPARISON_COLUMNS, comparisons, title=f"A = {a}, B = {b}"))
    for comparison in comparisons:
        out.print(f"{comparison.dataset}: {comparison.conclusion}", markup=False, soft_wrap=True)
        for note in comparison.notes:
            out.print(f"  note: {note}", markup=False, soft_wrap=True)
    titles = {"permutation": "a permutation test within splits", "wilcoxon": "Wilcoxon's signed-rank or rank-sum test"}
    out.print(EXPLANATION.format(test=titles[test]), markup=False, soft_wrap=True)


@friendly
def ranks(
    datasets: Datasets = "",
    models: Annotated[str, typer.Option(help="Only these models, such as gcn,gin,gatedgcn; all by default.")] = "",
    protocol: Annotated[
        str, typer.Option(help="Only rows of this protocol or family, such as bgnn-v5/zinc or modern.")
    ] = "",
    diagram: Annotated[Path | None, typer.Option(help="File of a critical-difference diagram, svg or png.")] = None,
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Rank models over several datasets, with the Friedman and the Nemenyi test.

    Example: graphtrial ranks --datasets zinc,aqsol,csl --diagram ranks.svg
    """
    from graphtrial.results.columns.ranks import rank_columns
    from graphtrial.results.columns.terminal import terminal_table
    from graphtrial.results.rows import ResultRows
    from graphtrial.results.select import matches, of_protocol, stored_rows
    from graphtrial.results.statistics.ranked_rows import rank_rows
    from graphtrial.results.statistics.ranks import EXPLANATION

    rows = stored_rows(store_of(store, shipped))
    if protocol:
        rows = of_protocol(rows, protocol)
    if models:
        rows = ResultRows(row for row in rows if any(matches(row, name) for name in names(models)))
    ranking = rank_rows(rows, names(datasets))
    if diagram is not None:
        from graphtrial.report.diagram import draw_ranks

        draw_ranks(ranking, diagram)
    if json:
        print_json(ranking.to_dict())
        return
    out.print(terminal_table(rank_columns(ranking.datasets), ranking.ranked_models))
    conclusion = f"{ranking.conclusion} Critical difference: {ranking.critical_difference:.2f}."
    out.print(conclusion, markup=False, soft_wrap=True)
    out.print(ranking.basis, markup=False, soft_wrap=True)
    if ranking.left_out:
        models_left_out = ", ".join(ranking.left_out)
        out.print(
            f"Left out, without a score on some dataset by its recipe: {models_left_out}.", markup=False, soft_wrap=True
        )
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
