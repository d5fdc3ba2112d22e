"""One page per row: all trials that differ in split and seed alone."""

from __future__ import annotations

from graphtrial.report import charts
from graphtrial.report.grid import Cell, Grid, number, numbers, words
from graphtrial.report.pages.trial import write_page
from graphtrial.report.rowgrid import duration
from graphtrial.report.site import Site, compact
from graphtrial.report.trialdata import row_data
from graphtrial.report.views import RowView, dataset_page, has_page, model_page, trial_page
from graphtrial.results.commands import run_command
from graphtrial.results.statistics.summary import PLUS_MINUS

ROOT = "../"
MOST_CURVES = 40


def write(site: Site) -> None:
    """Write the pages of all rows and of their trials."""
    for view in site.rows:
        row = view.row
        metric = row.first.metric
        known = {trial.id: site.history(trial) for trial in row.trials}
        stored = [site.stored[trial.id] for trial in row.trials]
        for trial in filter(has_page, stored):
            write_page(site, trial, known[trial.id])
        site.write(view.data, compact(row_data(view.id, stored, known)))
        histories = [
            (f"split {trial.spec.split}, seed {trial.spec.seed}", ROOT + trial_page(trial), known[trial.id])
            for trial in view.trials[:MOST_CURVES]
        ]
        site.page(
            view.page,
            "row.html",
            view=view,
            row=row,
            dataset=dataset_page(view.dataset),
            model=model_page(view.model),
            figures=_figures(view),
            settings={key: value for key, value in row.first.spec.settings.items() if key not in row.chosen},
            rules=vars(row.first.spec.rules),
            curves=charts.learning(histories, metric, "Learning curves", ""),
            grid=site.table(_trials(view)),
            command=site.reproduce(view.id),
            has_pages=all(map(has_page, stored)),
            by_hand=run_command(row),
        )


def _figures(view: RowView) -> list[tuple[str, str]]:
    row, test, train = view.row, view.test, view.row.scores("train")
    printed = row.published.test if row.published else None
    found = [
        (f"test {row.first.metric}", str(test) if test else "none yet"),
        ("95 % interval", test.interval if test and test.ci_low is not None else ""),
        ("published", printed.printed if printed else ""),
        (f"train {row.first.metric}", str(train) if train else ""),
        ("parameters", f"{row.params:,}" if row.params and row.has_epochs else ""),
        ("time per trial", duration(row.hours) if row.hours is not None else ""),
    ]
    return [(name, value) for name, value in found if value]


def _trials(view: RowView) -> Grid:
    extra = view.row.chosen
    columns = (
        *words("Trial"),
        *numbers("Split", "Seed", "Test", "Validation", "Train", *extra, "Epochs", "s / epoch"),
        *words("Status"),
    )
    lines = [
        [
            Cell(trial.id, href=ROOT + trial_page(trial) if has_page(trial) else None),
            Cell(str(trial.spec.split), sort=trial.spec.split),
            Cell(str(trial.spec.seed), sort=trial.spec.seed),
            *(number(trial.scores.get(part)) for part in ("test", "val", "train")),
            *(Cell(str(trial.spec.settings.get(name, ""))) for name in extra),
            Cell("" if trial.epochs is None else str(trial.epochs), sort=trial.epochs),
            number(trial.epoch_seconds or None, ".2f"),
            Cell(trial.status),
        ]
        for trial in view.trials
    ]
    title = f"Trials of {view.title} on {view.dataset_title}"
    return Grid(view.id, title, columns, lines, PLUS_MINUS, formats=("csv",))
