"""The comparison page: pairwise comparisons on each dataset, and ranks over datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from graphtrial.report import charts
from graphtrial.report.addresses import dataset_page, file_name
from graphtrial.report.grid import Cell, Grid, GridColumn, numbers, words
from graphtrial.report.row_page import RowPage
from graphtrial.report.row_table import plain_cell, title_cell
from graphtrial.report.site import Site
from graphtrial.results.columns.column import Column
from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS
from graphtrial.results.columns.ranks import rank_columns
from graphtrial.results.compare import compare_rows, corrected
from graphtrial.results.comparison import Comparison
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.ranked_rows import rank_names, widest_ranks
from graphtrial.results.statistics.ranks import EXPLANATION as RANKS_EXPLANATION
from graphtrial.results.statistics.ranks import RankedModel, Ranks
from graphtrial.results.statistics.summary import ALPHA
from graphtrial.results.titles import row_title, tuned_title

MOST_ROWS = 14
"""Maximum number of rows compared pairwise; of more, the best ones."""
HEADINGS = {
    "mean_b": "Test",
    "difference": "Best minus row",
    "ci": "",
    "p_holm": "p",
    "effect_size": "",
    "pairs": "",
    "verdict": "",
    "more_seeds": "",
}
"""Columns of the comparisons with the best row, with headings that replace A and B."""
EXPLANATION = (
    "Rows are paired by split, by the mean over seeds; on a single split the seeds of both are two independent "
    "samples. p is two-sided, by a permutation test, with Holm's correction for the rows of the table. worse: "
    "p is below 0.05 and the 95 % confidence interval (CI) of the difference excludes 0. equivalent: two one-sided "
    "tests (TOST) with an equivalence margin of 1 % of the score. too few trials: the smallest attainable p-value is "
    "not below 0.05. Effect size: mean over standard deviation. More seeds: number that decides with 80 % power at the "
    "observed difference."
)


def write(site: Site) -> None:
    """Write the page."""
    parts = [_part(site, place, title, rows) for place, (title, rows) in enumerate(_comparable(site))]
    rows = [view.row for view in site.rows]
    ranks = widest_ranks(rows)
    titles = {name: _title(row, name) for row, name in zip(rows, rank_names(rows), strict=True)}
    site.page(
        "compare.html",
        "compare.html",
        parts=parts,
        ranks=ranks,
        chart=charts.critical_differences(ranks, titles) if ranks else None,
        table=site.table(_rank_grid(ranks, titles)) if ranks else None,
        explanation=EXPLANATION,
    )


def _comparable(site: Site) -> Iterator[tuple[str, list[RowPage]]]:
    """Yield groups of two or more rows with the same data and protocol, best first."""
    groups: dict[tuple[str, ...], list[RowPage]] = {}
    for view in site.rows:
        if view.done > 1:
            groups.setdefault((*view.table[:3], str(view.badges)), []).append(view)
    for _, rows in sorted(groups.items()):
        if len(rows) > 1:
            sign = -1 if rows[0].row.first.higher_is_better else 1
            best = sorted(rows, key=lambda view: sign * view.test.mean)[:MOST_ROWS]  # type: ignore[union-attr]
            yield f"{best[0].dataset_title}, protocol {best[0].protocol}", best


def _part(site: Site, place: int, title: str, rows: list[RowPage]) -> dict[str, object]:
    file = f"{file_name(rows[0].dataset)}-{place}"
    best, others = rows[0], rows[1:]
    return {
        "title": title,
        "page": dataset_page(best.dataset),
        "best": best,
        "badges": best.badges,
        "against": site.table(_against_best(f"compare-{file}", best, others)),
        "pairs": site.table(_all_pairs(f"pairs-{file}", title, rows)) if len(rows) > 2 else None,
    }


def _against_best(name: str, best: RowPage, others: list[RowPage]) -> Grid:
    """Return the comparisons of the best row, A, with each other row, B."""
    pairs = [(view, comparison) for view in others if (comparison := compare_rows(best.row, view.row))]
    comparisons = corrected([(best.row, view.row, comparison) for view, comparison in pairs])
    columns = [COMPARISON_COLUMNS[name] for name in HEADINGS]
    lines = [
        [title_cell(view), *(_comparison_cell(column, comparison) for column in columns)]
        for (view, _), comparison in zip(pairs, comparisons, strict=True)
    ]
    headings = (
        GridColumn(HEADINGS[column.name] or column.heading, number=column.align == "right", hint=column.description)
        for column in columns
    )
    caption = f"Against {best.title}, paired by split; on a single split, two independent samples."
    return Grid(name, f"Against the best: {best.title}", (*words("Row"), *headings), lines, caption)


def _comparison_cell(column: Column[Comparison], comparison: Comparison) -> Cell:
    if column.name == "verdict":
        verdict = {"A is better": "worse", "B is better": "better"}.get(comparison.verdict, comparison.verdict)
        pill = {"worse": "worse", "equivalent": "agrees"}.get(verdict, "open")
        return Cell(verdict, hint=comparison.conclusion, pill=pill)
    if column.name == "pairs":
        return Cell(comparison.basis, sort=comparison.difference.pairs or comparison.difference.trials_a)
    return plain_cell(column, comparison)


def _all_pairs(name: str, title: str, rows: list[RowPage]) -> Grid:
    """Return the differences of all pairs, row minus column; *: the confidence interval excludes 0 and p < 0.05."""
    texts: dict[tuple[int, int], Cell] = {}
    for i, j in combinations(range(len(rows)), 2):
        comparison = compare_rows(rows[i].row, rows[j].row)
        if comparison is None:
            texts[i, j] = texts[j, i] = Cell("")
            continue
        difference = comparison.difference
        star = " *" if difference.excludes_zero and difference.p < ALPHA else ""
        interval = f"95 % CI [{difference.ci_low:+.3f}, {difference.ci_high:+.3f}]"
        hint = f"{interval}, p = {difference.p:.3g}, {comparison.basis}"
        texts[i, j] = Cell(f"{difference.mean:+.3f}{star}", sort=difference.mean, hint=hint)
        texts[j, i] = Cell(f"{-difference.mean:+.3f}{star}", sort=-difference.mean, hint=hint)
    lines = [
        [title_cell(view), *(Cell("·") if i == j else texts[i, j] for j in range(len(rows)))]
        for i, view in enumerate(rows)
    ]
    caption = (
        "Row minus column, paired by split; on a single split, two independent samples. "
        "* the 95 % confidence interval excludes 0 and p < 0.05 by a permutation test, without correction."
    )
    return Grid(name, f"All pairs: {title}", (*words(""), *numbers(*(view.title for view in rows))), lines, caption)


def _title(row: ResultRow, name: str) -> str:
    """Return the title of a row in the ranks, with the settings in its name."""
    settings = name.removeprefix(row.name).split("/")[1:]
    return row_title(replace(row, differs_in=", ".join([*filter(None, [tuned_title(row)]), *settings])))


def _rank_grid(ranks: Ranks, titles: Mapping[str, str]) -> Grid:
    columns = rank_columns(ranks.datasets).shown("site")
    badges = {
        f"rank_{name}": "".join(f" [{badge}]" for badge in marks)
        for name, marks in zip(ranks.datasets, ranks.badges, strict=True)
    }
    headings = tuple(
        GridColumn(
            column.heading + badges.get(column.name, ""), number=column.align == "right", hint=column.description
        )
        for column in columns
    )

    def cell(column: Column[RankedModel], model: RankedModel) -> Cell:
        return Cell(titles[model.name], hint=model.name) if column.name == "model" else plain_cell(column, model)

    lines = [[cell(column, model) for column in columns] for model in ranks.ranked_models]
    return Grid("ranks", "Ranks", headings, lines, RANKS_EXPLANATION)
