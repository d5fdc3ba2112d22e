"""How far the studies that come along are, by the trials of the store."""

from __future__ import annotations

from graphtrial.core.errors import GraphTrialError
from graphtrial.report.grid import Cell, Grid, numbers, words
from graphtrial.report.site import Site
from graphtrial.results.printed import planned_rows
from graphtrial.studies import catalog, load_study
from graphtrial.studies.plan import finished

CAPTION = (
    "Published tables as studies, those of which some trial is here; only their datasets that are here are counted. "
    "The command graphtrial study NAME runs what is missing."
)


def study_grid(site: Site) -> Grid:
    """Return the studies of which a trial is in the store: how many trials they have, and how many are finished."""
    lines = []
    for name in catalog():
        study = load_study(name)
        here = [dataset for dataset in study.datasets if dataset in site.datasets]
        if not here:
            continue
        try:
            rows = [row for row in planned_rows(name) if row.dataset in here]
        except GraphTrialError:  # a part of it needs a package or a file that is not here
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
    columns = (*words("Study", "Title"), *numbers("Finished", "Trials", "Share"))
    return Grid("studies", "Studies", columns, lines, CAPTION)
