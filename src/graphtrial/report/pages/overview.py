"""The first page: trials, missing trials, verdicts; and the list of all trials."""

from __future__ import annotations

from collections import Counter

from graphtrial.encodings.notation import short_encoding
from graphtrial.published import published_results
from graphtrial.report.addresses import dataset_page, model_page
from graphtrial.report.facts import describe
from graphtrial.report.grid import Cell, Grid, numbers, words
from graphtrial.report.pages.papers import apart, counts
from graphtrial.report.pages.studies import study_grid
from graphtrial.report.row_page import RowPage
from graphtrial.report.row_table import grid_column, plain_cell, row_cell, title_cell, trial_headings
from graphtrial.report.site import Site
from graphtrial.results.columns.column import Column
from graphtrial.results.columns.formats import duration
from graphtrial.results.columns.trials import TRIAL_COLUMNS
from graphtrial.results.titles import dataset_title, encoding_title, model_title
from graphtrial.trials.store import TrialRecord


def write(site: Site) -> None:
    """Write the first page and the list of trials."""
    statuses = Counter(trial.status for trial in site.trials)
    site.page(
        "index.html",
        "overview.html",
        counts=counts(site),
        apart=apart(site),
        statuses=statuses.most_common(),
        hours=duration(sum(map(_hours, site.trials))),
        cards=[_card(site, name, rows) for name, rows in site.datasets.items()],
        models=[(name, rows[0].model_title, model_page(name), len(rows)) for name, rows in site.models.items()],
        studies=site.table(study_grid(site)),
        missing=site.table(_missing(site)),
        untried=site.table(_untried(site)),
    )
    site.page("trials.html", "trials.html", grid=site.table(_trials(site)))


def _hours(trial: TrialRecord) -> float:
    seconds = trial.details.get("seconds") or (trial.epochs or 0) * (trial.epoch_seconds or 0)
    return float(seconds) / 3600


def _card(site: Site, name: str, rows: list[RowPage]) -> dict[str, object]:
    tested = [view for view in rows if view.test is not None and not view.row.departures]
    first = rows[0].row.first
    sign = -1 if first.higher_is_better else 1
    best = min(tested, key=lambda view: sign * view.test.mean, default=None)  # type: ignore[union-attr]
    return {
        "name": name,
        "title": dataset_title(name),
        "page": dataset_page(name),
        "about": describe(name).title,
        "metric": first.metric,
        "rows": len(rows),
        "trials": sum(len(view.row.trials) for view in rows),
        "best": best,
        "badges": sorted(Counter(badge for view in rows for badge, _ in view.badges).items()),
    }


def _missing(site: Site) -> Grid:
    """Return the rows with trials that have no score, or with fewer trials than the protocol."""
    lines = []
    for view in site.rows:
        planned = view.planned
        not_started = max(0, planned - len(view.row.trials)) if planned else 0
        if not view.open and not not_started:
            continue
        lines.append(
            [
                row_cell("dataset", view),
                title_cell(view, anchor=True),
                Cell(str(view.done), sort=view.done),
                Cell(str(planned or ""), sort=planned),
                Cell(", ".join(f"{n} {status}" for status, n in view.open.items())),
                Cell(str(not_started or ""), sort=not_started),
            ]
        )
    columns = (
        *words("Dataset", "Row"),
        *numbers("Scored", "Protocol"),
        *words("Without a score"),
        *numbers("Not started"),
    )
    caption = (
        "Protocol: seeds x splits of the published protocol. Fewer trials widen the confidence interval, without bias."
    )
    return Grid("missing", "Trials that are missing", columns, lines, caption)


def _untried(site: Site) -> Grid:
    """Return the published rows without trials here, of tables and datasets that have some."""
    compared = [view.row.published for view in site.rows if view.row.published]
    tables = {(row.paper, row.table, row.printed.dataset) for row in compared if row.origin == "own"}
    lines = []
    for row in published_results():
        if row.test is None or row.origin != "own" or row.reason:  # no trial would be compared with it
            continue
        if (row.paper, row.table, row.printed.dataset) in tables and row not in compared:
            table = row.where
            settings = ", ".join(f"{key} {value}" for key, value in row.printed.variant.items())
            layers = Cell("" if row.layers is None else str(row.layers), sort=row.layers)
            lines.append(
                [
                    Cell(row.printed.dataset),
                    Cell(row.label),
                    layers,
                    Cell(settings),
                    Cell(row.test.text, sort=row.test.mean),
                    Cell(table),
                ]
            )
    columns = (
        *words("Dataset", "Model"),
        grid_column("layers"),
        *words("Variant"),
        grid_column("published"),
        *words("Table"),
    )
    return Grid("untried", "Published rows without trials here", columns, lines)


def _trials(site: Site) -> Grid:
    columns = TRIAL_COLUMNS.shown("site")
    lines = [[_trial_cell(site, column, trial) for column in columns] for trial in sorted(site.trials, key=_sort_key)]
    return Grid("trials", "All trials", trial_headings(columns), lines, formats=("csv",))


def _trial_cell(site: Site, column: Column[TrialRecord], trial: TrialRecord) -> Cell:
    if column.name == "id":
        return Cell(trial.id, href=site.address_of(trial))
    titles = {
        "dataset": lambda: dataset_title(trial.spec.dataset),
        "model": lambda: model_title(trial.spec),
        "encoding": lambda: encoding_title(trial.spec.encoding) or "none",
    }
    return Cell(titles[column.name]()) if column.name in titles else plain_cell(column, trial)


def _sort_key(trial: TrialRecord) -> tuple[str, str, str, int, int]:
    spec = trial.spec
    return spec.dataset, spec.model.name, short_encoding(spec.encoding), spec.seed, spec.split
