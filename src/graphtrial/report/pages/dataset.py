"""One page per dataset."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import median_low

from graphtrial.published import published_results
from graphtrial.report import charts
from graphtrial.report.addresses import dataset_page, file_name
from graphtrial.report.facts import describe, statistics
from graphtrial.report.grid import Grid
from graphtrial.report.published_table import published_grid
from graphtrial.report.row_page import RowPage, labels
from graphtrial.report.row_table import row_grid
from graphtrial.report.site import Prepared, Site
from graphtrial.results.titles import dataset_title
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord

ROOT = "../"
MOST_CURVES = 24


def write(site: Site) -> None:
    """Write the pages of all datasets."""
    for name, rows in site.datasets.items():
        prepared = site.prepare(name, rows[-1].row.first.spec.data) if site.prepare else Prepared()
        file = file_name(name)
        grid = statistics(name, prepared.facts, f"{file}-statistics")
        site.page(
            dataset_page(name),
            "dataset.html",
            name=name,
            title=dataset_title(name),
            about=describe(name),
            metadata=prepared.facts,
            pictures=[_picture(site, file, i, picture) for i, picture in enumerate(prepared.pictures)],
            statistics=site.table(grid) if grid else None,
            published=_published(site, name, file),
            parts=[_part(site, f"{file}-{i}", part) for i, part in enumerate(_tables(rows))],
        )


def _published(site: Site, name: str, file: str) -> Grid | None:
    """Return all published results on a dataset."""
    results = [row for row in published_results() if name in row.datasets]
    title = f"Published results on {dataset_title(name)}"
    grid = published_grid(site, f"{file}-published", title, results, ROOT, without=("dataset",))
    return site.table(grid) if grid else None


def _tables(rows: Sequence[RowPage]) -> list[list[RowPage]]:
    tables: dict[object, list[RowPage]] = {}
    for view in rows:
        tables.setdefault(view.table, []).append(view)
    return list(tables.values())


def _part(site: Site, file: str, rows: list[RowPage]) -> dict[str, object]:
    """Return the table of one protocol and its charts."""
    first = rows[0].row.first
    arrow = "higher is better" if first.higher_is_better else "lower is better"
    first_rows = rows[:MOST_CURVES]
    histories = [
        (name, ROOT + view.page, _median_history(site, view))
        for view, name in zip(first_rows, labels(first_rows), strict=True)
    ]
    note = "For each row the trial with the median test score; all trials are on the page of the row."
    if len(rows) > MOST_CURVES:
        note += f" The first {MOST_CURVES} of {len(rows)} rows."
    return {
        "heading": f"Protocol {rows[0].protocol}",
        "badges": rows[0].badges,
        "subtitle": f"{first.metric}, {arrow}",
        "count": len(rows),
        "grid": site.table(row_grid(file, f"{rows[0].dataset_title}, {rows[0].rules}", rows, ROOT)),
        "charts": [
            chart
            for chart in (
                charts.forest(rows, first.metric, arrow, ROOT),
                charts.learning(histories, first.metric, "Learning curves", note),
                charts.costs(rows, first.metric, ROOT),
                charts.memory(rows, ROOT),
            )
            if chart
        ],
    }


def median_trial(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """Return the trial with the (lower) median of the test scores; `None` without scores."""
    tested = [trial for trial in trials if "test" in trial.scores]
    if not tested:
        return None
    median = median_low([trial.scores["test"] for trial in tested])
    return next(trial for trial in tested if trial.scores["test"] == median)


def _median_history(site: Site, view: RowPage) -> list[Epoch]:
    trial = median_trial(view.row.trials)
    return site.history(trial) if trial else []


def _picture(site: Site, file: str, number: int, picture: Path) -> str:
    target = f"pictures/{file}-{number}{picture.suffix}"
    (site.folder / "pictures").mkdir(exist_ok=True)
    shutil.copyfile(picture, site.folder / target)
    return target
