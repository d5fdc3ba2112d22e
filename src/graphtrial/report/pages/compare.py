"""The comparison page: models against each other on each dataset, and their ranks over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from graphtrial.report import charts
from graphtrial.report.grid import Cell, Grid, number, numbers, words
from graphtrial.report.names import file_name
from graphtrial.report.rowgrid import row_cell
from graphtrial.report.site import Site
from graphtrial.report.views import RowView, dataset_page
from graphtrial.results import compare as comparing
from graphtrial.results.statistics import ranks as ranking
from graphtrial.results.statistics.summary import ALPHA, holm
from graphtrial.results.titles import dataset_title, row_title

MOST_ROWS = 14
"""Of so many rows every pair is compared; of more, the best ones."""


EXPLANATION = (
    "Rows are paired by split, the seeds of each averaged; on a single split the seeds of both are two independent "
    "samples. p is two-sided, by a permutation test, corrected by Holm's rule for the number of rows in the table. "
    "worse: it is below 0.05 and the 95 % interval of the difference has no 0 in it. equivalent: two one-sided tests "
    "rule out differences of 1 % of the score and more. too few trials: no scores could have brought the test below "
    "0.05. Effect: mean over s.d. More seeds: how many would settle it with 80 % power if they go on as they are."
)


def write(site: Site) -> None:
    """Write the page."""
    parts = [_part(site, place, title, rows) for place, (title, rows) in enumerate(_comparable(site))]
    found = _ranks(site)
    titles = {view.name: row_title(view.row) for view in site.rows}  # ranks know rows by their names alone
    site.page(
        "compare.html",
        "compare.html",
        parts=parts,
        ranks=found,
        chart=charts.critical_differences(found, titles) if found else None,
        table=site.table(_rank_grid(site, found, titles)) if found else None,
        explanation=EXPLANATION,
    )


def _comparable(site: Site) -> Iterator[tuple[str, list[RowView]]]:
    """Yield the rows that were tried on the same data by the same protocol, at least two of them, best first."""
    groups: dict[tuple[str, ...], list[RowView]] = {}
    for view in site.rows:
        if view.done > 1:
            groups.setdefault((*view.table[:3], str(view.badges)), []).append(view)
    for _, rows in sorted(groups.items()):
        if len(rows) > 1:
            sign = -1 if rows[0].row.first.higher_is_better else 1
            best = sorted(rows, key=lambda view: sign * view.test.mean)[:MOST_ROWS]  # type: ignore[union-attr]
            yield f"{best[0].dataset_title}, protocol {best[0].protocol}", best


def _part(site: Site, place: int, title: str, rows: list[RowView]) -> dict[str, object]:
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


def _against_best(name: str, best: RowView, others: list[RowView]) -> Grid:
    made = [(view, found) for view in others if (found := comparing.compare_rows(best.row, view.row))]
    corrected = holm([found.difference.p for _, found in made])
    lines = []
    for (view, each), p in zip(made, corrected, strict=True):
        found = replace(each, p_holm=p)
        gap = found.difference
        more = (
            ""
            if found.verdict not in ("undecided", "too few trials")
            else "no number"
            if found.more_seeds is None
            else str(found.more_seeds)
        )
        said = {"A is better": "worse", "B is better": "better"}.get(found.verdict, found.verdict)
        lines.append(
            [
                row_cell(view),
                number(found.mean_b),
                number(gap.mean, "+.3f"),
                Cell(f"[{gap.ci_low:+.3f}, {gap.ci_high:+.3f}]", sort=gap.ci_low),
                number(p, ".3g"),
                number(gap.effect_size, "+.2f"),
                Cell(found.basis, sort=gap.pairs or gap.trials_a),
                Cell(said, hint=found.words, pill={"worse": "worse", "equivalent": "agrees"}.get(said, "open")),
                Cell(more),
            ]
        )
    columns = (
        *words("Row"),
        *numbers("Test", "Best minus row", "95 % interval", "p", "Effect", "Compared"),
        *words("Verdict"),
        *numbers("More seeds"),
    )
    caption = f"Against {best.title}, paired by split."
    return Grid(name, f"Against the best: {best.title}", columns, lines, caption)


def _all_pairs(name: str, title: str, rows: list[RowView]) -> Grid:
    """Return the differences of all pairs: row minus column, with * where 0 lies outside the interval and p < 0.05."""
    texts: dict[tuple[int, int], Cell] = {}
    for i, j in combinations(range(len(rows)), 2):
        compared = comparing.compare_rows(rows[i].row, rows[j].row)
        if compared is None:
            texts[i, j] = texts[j, i] = Cell("")
            continue
        found = compared.difference
        star = " *" if found.excludes_zero and found.p < ALPHA else ""
        hint = f"95 % interval [{found.ci_low:+.3f}, {found.ci_high:+.3f}], p = {found.p:.3g}, {compared.basis}"
        texts[i, j] = Cell(f"{found.mean:+.3f}{star}", sort=found.mean, hint=hint)
        texts[j, i] = Cell(f"{-found.mean:+.3f}{star}", sort=-found.mean, hint=hint)
    lines = [
        [row_cell(view), *(Cell("·") if i == j else texts[i, j] for j in range(len(rows)))]
        for i, view in enumerate(rows)
    ]
    caption = (
        "Row minus column, paired by split. "
        "* the 95 % interval has no 0 in it and p < 0.05 by a permutation test, not corrected for the number of pairs."
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
