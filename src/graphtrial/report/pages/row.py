"""One page per row: all trials that differ in split and seed alone."""

from __future__ import annotations

from graphtrial.report import charts
from graphtrial.report.addresses import dataset_page, model_page, trial_page
from graphtrial.report.grid import Cell, Grid, numbers
from graphtrial.report.pages.trial import write_page
from graphtrial.report.row_page import MOST_PAGES, RowPage
from graphtrial.report.row_table import plain_cell, row_cell, trial_headings
from graphtrial.report.search_charts import tuning_section
from graphtrial.report.site import Site, compact
from graphtrial.report.trialdata import row_data
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.columns.trials import TRIAL_COLUMNS
from graphtrial.results.commands import run_command
from graphtrial.results.statistics.summary import PLUS_MINUS

ROOT = "../"
FOLD = ("trial", "split", "seed")
"""Keys of a choice that tell which fold it is of."""


def write(site: Site) -> None:
    """Write the pages of all rows and of their trials."""
    for view in site.rows:
        row = view.row
        metric = row.first.metric
        history_of = {trial.id: site.history(trial) for trial in row.trials}
        stored = [site.stored[trial.id] for trial in row.trials]
        for trial in filter(view.has_page, stored):
            write_page(site, trial, history_of[trial.id])
        site.write(view.data, compact(row_data(view.id, stored, history_of)))
        histories = [
            (
                f"split {trial.spec.split}, seed {trial.spec.seed}",
                ROOT + site.address_of(site.stored[trial.id]),
                history_of[trial.id],
            )
            for trial in view.trials[:MOST_PAGES]
        ]
        site.page(
            view.page,
            "row.html",
            view=view,
            row=row,
            dataset=dataset_page(view.dataset),
            model=model_page(view.model),
            figures=_figures(view),
            settings=row.settings,
            rules=row.first.spec.rules.summary(),
            curves=charts.learning(histories, metric, "Learning curves", ""),
            grid=site.table(_trials(view)),
            command=site.reproduce(view.id),
            has_pages=all(map(view.has_page, stored)),
            by_hand=run_command(row),
            tuning=tuning_section(site, view),
        )


def _figures(view: RowPage) -> list[tuple[str, str]]:
    metric = view.row.first.metric
    names = {
        "test": f"test {metric}",
        "test_ci": ROW_COLUMNS["test_ci"].heading,
        "published": "published",
        "train": f"train {metric}",
        "params": "parameters",
        "total_hours": "time per trial",
    }
    figures = [(title, row_cell(name, view).full_text) for name, title in names.items()]
    return [(title, text or "none yet") for title, text in figures if text or title == f"test {metric}"]


def _trials(view: RowPage) -> Grid:
    choices = {choice["trial"]: choice for choice in view.row.choices}
    selected = [
        name for name in dict.fromkeys(name for choice in choices.values() for name in choice) if name not in FOLD
    ]
    before = [TRIAL_COLUMNS[name] for name in ("split", "seed", "test", "val", "train")]
    after = [TRIAL_COLUMNS[name] for name in ("epochs", "epoch_seconds", "device", "status")]
    columns = (
        *trial_headings([TRIAL_COLUMNS["id"], *before]),
        *numbers(*selected),
        *trial_headings(after),
    )
    lines = [
        [
            Cell(trial.id, href=ROOT + trial_page(trial) if view.has_page(trial) else None),
            *(plain_cell(column, trial) for column in before),
            *(Cell(str(choices.get(trial.id, {}).get(name, ""))) for name in selected),
            *(plain_cell(column, trial) for column in after),
        ]
        for trial in view.trials
    ]
    title = f"Trials of {view.title} on {view.dataset_title}"
    return Grid(view.id, title, columns, lines, PLUS_MINUS, formats=())
