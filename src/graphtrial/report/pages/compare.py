"""The comparison page: models against each other on each dataset, and their ranks over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from graphtrial.report import charts
from graphtrial.report.addresses import dataset_page, file_name
from graphtrial.report.grid import Cell, Grid, GridColumn, number, numbers, words
from graphtrial.report.row_page import RowPage
from graphtrial.report.row_table import plain_cell, title_cell
from graphtrial.report.site import Site
from graphtrial.results import compare as comparing
from graphtrial.results.columns.column import Column
from graphtrial.results.columns.comparisons import COMPARISON_COLUMNS
from graphtrial.results.statistics import ranks as ranking
from graphtrial.results.statistics.summary import ALPHA, holm
from graphtrial.results.titles import dataset_title, row_title

MOST_ROWS = 14
"""Of so many rows every pair is compared; of more, the best ones."""


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
"""Columns of the comparisons with the best row, and their headings where A and B would say less."""
EXPLANATION = (
    "Rows are paired by split, the seeds of each averaged; on a single split the seeds of both are two independent "
    "samples. p is two-sided, by a permutation test, with Holm's correction for the rows of the table. worse: "
    "p is below 0.05 and the 95 % confidence interval (CI) of the difference excludes 0. equivalent: two one-sided "
    "tests (TOST) with an equivalence margin of 1 % of the score. too few trials: the smallest attainable p-value is "
    "not below 0.05. Effect size: mean over standard deviation. More seeds: number that decides with 80 % power at the "
    "observed difference."
)


def write(site: Site) -> None:
    """Write the page."""
    parts = [_part(site, place, title, rows) for place, (title, rows) in enumerate(_comparable(site))]
    found = _ranks(site)
    titles = {view.name: row_title(replace(view.row, differs_in="")) for view in site.rows}  # ranks know names alone
    site.page(
        "compare.html",
        "compare.html",
        parts=parts,
        ranks=found,
        chart=charts.critical_differences(found, titles) if found else None,
        table=site.table(_rank_grid(site, found, titles)) if found else None,
        explanation=EXPLANATION,
    )


def _comparable(site: Site) -> Iterator[tuple[str, list[RowPage]]]:
    """Yield the rows that were tried on the same data by the same protocol, at least two of them, best first."""
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
    pairs = [(view, one) for view in others if (one := comparing.compare_rows(best.row, view.row))]
    corrected = holm([one.difference.p for _, one in pairs])
    columns = [COMPARISON_COLUMNS[name] for name in HEADINGS]
    lines = [
        [title_cell(view), *(_comparison_cell(column, replace(one, p_holm=p)) for column in columns)]
        for (view, one), p in zip(pairs, corrected, strict=True)
    ]
    headings = (
        GridColumn(HEADINGS[column.name] or column.heading, number=column.align == "right", hint=column.description)
        for column in columns
    )
    caption = f"Against {best.title}, paired by split."
    return Grid(name, f"Against the best: {best.title}", (*words("Row"), *headings), lines, caption)


def _comparison_cell(column: Column[comparing.Comparison], one: comparing.Comparison) -> Cell:
    if column.name == "verdict":
        verdict = {"A is better": "worse", "B is better": "better"}.get(one.verdict, one.verdict)
        return Cell(verdict, hint=one.words, pill={"worse": "worse", "equivalent": "agrees"}.get(verdict, "open"))
    if column.name == "pairs":
        return Cell(one.basis, sort=one.difference.pairs or one.difference.trials_a)
    return plain_cell(column, one)


def _all_pairs(name: str, title: str, rows: list[RowPage]) -> Grid:
    """Return the differences of all pairs, row minus column; *: the confidence interval excludes 0 and p < 0.05."""
    texts: dict[tuple[int, int], Cell] = {}
    for i, j in combinations(range(len(rows)), 2):
        compared = comparing.compare_rows(rows[i].row, rows[j].row)
        if compared is None:
            texts[i, j] = texts[j, i] = Cell("")
            continue
        found = compared.difference
        star = " *" if found.excludes_zero and found.p < ALPHA else ""
        hint = f"95 % CI [{found.ci_low:+.3f}, {found.ci_high:+.3f}], p = {found.p:.3g}, {compared.basis}"
        texts[i, j] = Cell(f"{found.mean:+.3f}{star}", sort=found.mean, hint=hint)
        texts[j, i] = Cell(f"{-found.mean:+.3f}{star}", sort=-found.mean, hint=hint)
    lines = [
        [title_cell(view), *(Cell("·") if i == j else texts[i, j] for j in range(len(rows)))]
        for i, view in enumerate(rows)
    ]
    caption = (
        "Row minus column, paired by split. "
        "* the 95 % confidence interval excludes 0 and p < 0.05 by a permutation test, without correction."
    )
    return Grid(name, f"All pairs: {title}", (*words(""), *numbers(*(view.title for view in rows))), lines, caption)


def _ranks(site: Site) -> ranking.Ranks | None:
    """Return the ranks over the datasets that give the most to compare: models times datasets, two of each at least."""
    tested = {name: {view.name for view in rows if view.test} for name, rows in site.datasets.items()}
    wanted = [name for name, models in tested.items() if models]
    choices = []
    while len(wanted) > 1:
        shared = set.intersection(*(tested[name] for name in wanted))
        if len(shared) > 1:
            choices.append((len(shared) * len(wanted), list(wanted)))
        wanted.remove(min(wanted, key=lambda name: len(tested[name])))
    if not choices:
        return None
    return ranking.rank_rows([view.row for view in site.rows], max(choices, key=lambda choice: choice[0])[1])


def _rank_grid(site: Site, found: ranking.Ranks, titles: Mapping[str, str]) -> Grid:
    marks = {
        name: sorted({badge for view in site.datasets[name] for badge, _ in view.badges}) for name in found.datasets
    }
    datasets = [" ".join([dataset_title(name), *(f"[{badge}]" for badge in marks[name])]) for name in found.datasets]
    lines = [
        [
            Cell(titles[model], hint=model),
            number(found.mean_ranks[i], ".2f"),
            *(number(found.ranks[j][i], "g") for j in range(len(found.datasets))),
        ]
        for i, model in enumerate(found.models)
    ]
    return Grid(
        "ranks",
        "Ranks",
        (*words("Model"), *numbers("Mean rank", *datasets)),
        lines,
        ranking.EXPLANATION,
    )
