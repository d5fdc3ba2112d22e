"""Progress of the studies of the catalog in the store."""

from __future__ import annotations

from graphtrial.core.errors import GraphTrialError
from graphtrial.report.grid import Cell, Grid, numbers, words
from graphtrial.report.site import Site
from graphtrial.results.printed import planned_rows
from graphtrial.studies import catalog, load_study
from graphtrial.studies.plan import finished

CAPTION = (
    "Studies of published tables with at least one trial in the store; only datasets with trials are counted. "
    "graphtrial study NAME runs the missing trials."
)


def study_grid(site: Site) -> Grid:
    """Return the studies with a trial in the store: number of trials, finished ones, and their fraction."""
    lines = []
    for name in catalog():
        study = load_study(name)
        here = [dataset for dataset in study.datasets if dataset in site.datasets]
        if not here:
            continue
        try:
            rows = [row for row in planned_rows(name) if row.dataset in here]
        except GraphTrialError:  # a missing package or file
            continue
        of_these = [trial for trial in site.trials if trial.spec.dataset in here]
        done = sum(map(len, finished(rows, of_these).values()))
        wanted = sum(row.trials for row in rows)
        if done:
            lines.append(
                [
                    Cell(name),
                    Cell(study.title),
                    Cell(str(done), sort=done),
                    Cell(str(wanted), sort=wanted),
                    Cell(f"{done / wanted:.0%}", sort=done / wanted),
                ]
            )
    columns = (*words("Study", "Title"), *numbers("Finished", "Trials", "Fraction"))
    return Grid("studies", "Studies", columns, lines, CAPTION)
