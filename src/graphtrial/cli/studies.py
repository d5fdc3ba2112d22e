"""`graphtrial list studies` and `graphtrial study --dry-run`: plan, progress and estimated time of studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.cli.common import err, out
from graphtrial.cli.hours import FACTS, HOURS, format_hours, totals
from graphtrial.core.errors import MissingDependencyError
from graphtrial.core.hardware.speed import read_factor
from graphtrial.core.parallel import cores
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.studies import Study
    from graphtrial.studies.eta import RowEta
    from graphtrial.studies.plan import PlannedRow
    from graphtrial.trials.store import TrialRecord
    from graphtrial.trials.store.searches import SearchRecord


def study_entries(
    store: Path, *, estimate: bool, only: list[str], factor: float | None = None, parallel: int | None = None
) -> list[dict[str, Any]]:
    """Return the entries of `graphtrial list studies`, restricted to names with one of the prefixes `only`.

    Shipped timings are multiplied by `factor`; `parallel` trials run at a time, one per core by default.
    """
    from graphtrial.studies import catalog, load_study
    from graphtrial.tuning.of_study import finished_searches, planned_searches

    records, searches = records_of(store), searches_of(store)
    parallel = cores() if parallel is None else parallel
    entries = []
    for name in (name for name in catalog() if not only or name.startswith(tuple(only))):
        study = load_study(name)
        facts: dict[str, Any] = dict.fromkeys(FACTS)
        try:
            facts = totals(row_etas(study, records, estimate=estimate, factor=factor), parallel)
        except MissingDependencyError as error:
            err.print(f"{name}: {error}", markup=False, soft_wrap=True)
        entries.append(
            {
                "name": name,
                "dataset": study.dataset,
                "models": list(dict.fromkeys(row.model for row in study.rows)),
                **facts,
                "searches": len(planned_searches(study)),
                "searches_done": finished_searches(study, searches),
                "title": study.title,
                "paper": study.paper,
            }
        )
    return entries


def show_studies(entries: list[dict[str, Any]], factor: float | None) -> None:
    """Print the studies as a table."""
    headings = ("rows", "trials", "done", "searches", "hours left")
    counts = (TableColumn(heading, numeric=True) for heading in headings)
    table = TerminalTable(
        TableColumn("name", rigid=True), TableColumn("dataset", priority=2), *counts, TableColumn("title", priority=1)
    )
    papers: dict[str, str] = {}
    for entry in entries:
        dataset = entry["dataset"]
        table.add_row(
            entry["name"],
            dataset if isinstance(dataset, str) else ", ".join(dataset),
            *("-" if entry[key] is None else str(entry[key]) for key in ("rows", "trials", "done")),
            f"{entry['searches_done']} of {entry['searches']}" if entry["searches"] else "",
            format_hours(entry),
            entry["title"],
        )
        family, slash, _ = entry["name"].partition("/")
        if slash:
            papers.setdefault(family, entry["paper"].partition(", table")[0])
    out.print(table)
    for family, paper in papers.items():
        out.print(f"{family}: {paper}", markup=False, soft_wrap=True)
    machine = (
        ", unscaled: --calibrate measures this machine" if factor is None else f", times {factor:g} on this machine"
    )
    out.print(
        f"Hours left: estimated for the missing trials, {cores()} in parallel, from finished trials, cached timings "
        f"and shipped timings{machine}. ~: some rows are scaled from the nearest measured model; +: some have no "
        "estimate. --estimate times all models. Searches are not estimated.",
        soft_wrap=True,
    )


def scaled_entries(entries: list[dict[str, Any]], factor: float | None) -> list[dict[str, Any]]:
    """Return entries of the index, whose hours are those of one core of the reference machine, for this machine."""
    scale = factor or 1.0
    return [
        {**entry, **{key: None if entry[key] is None else entry[key] * scale / cores() for key in HOURS}}
        for entry in entries
    ]


def machine_factor(*, calibrate_now: bool) -> float | None:
    """Return the slowness of this machine relative to the shipped timings, None if unknown; measured if wanted."""
    factor = read_factor()
    if factor is None and calibrate_now:
        from graphtrial.studies.calibration import SECONDS, calibrate

        err.print(f"calibrating this machine, once, about {SECONDS:.0f} seconds", soft_wrap=True)
        factor = calibrate()
    return factor


def row_etas(study: Study, records: list[TrialRecord], *, estimate: bool, factor: float | None = None) -> list[RowEta]:
    """Return finished trials and estimated time of each row; with `estimate`, untimed models are timed."""
    from graphtrial.studies.eta import study_eta

    return study_eta(
        study,
        records,
        measure=estimate,
        factor=factor,
        report=lambda message: err.print(message, markup=False, soft_wrap=True),
    )


def show_plan(study: Study, store: Path, *, estimate: bool) -> None:
    """Print the planned rows of a study; studies of the catalog need no data."""
    from graphtrial.encodings.notation import short_encoding
    from graphtrial.studies.plan import plan
    from graphtrial.tuning.of_study import finished_searches, planned_searches

    if estimate:
        plan(study)  # what cannot be planned is an error before the machine is calibrated
    factor = machine_factor(calibrate_now=estimate)
    etas = row_etas(study, records_of(store), estimate=estimate, factor=factor)
    facts = totals(etas, cores())
    out.print(f"{study.title}: {facts['trials']} trials in {facts['rows']} rows, {facts['done']} of them done")
    texts = (TableColumn(heading) for heading in ("dataset", "model", "settings", "encoding"))
    counts = (TableColumn(heading, numeric=True) for heading in ("splits x seeds", "done", "hours left"))
    table = TerminalTable(*texts, TableColumn("protocol", priority=1), *counts)
    for eta in etas:
        row = eta.row
        table.add_row(
            *(row.dataset, row.model.name, _format_settings(row), short_encoding(row.encoding), row.protocol),
            *(f"{row.splits} x {len(row.seeds)}", str(eta.done)),
            format_hours(totals([eta], cores())),
        )
    out.print(table)
    searches = len(planned_searches(study))
    if searches:
        tuned = finished_searches(study, searches_of(store))
        out.print(f"then {searches} searches, {tuned} of them done; their hours are not estimated", soft_wrap=True)
    for message in not_run(study):
        out.print(f"not run: {message}", markup=False, soft_wrap=True)
    hints = [
        *(["~: scaled from the nearest measured model"] if facts["guessed_rows"] else []),
        *(["on the machine of the shipped timings"] if factor is None and not facts["done"] else []),
        *(["`--estimate` times the models here"] if facts["guessed_rows"] or facts["timed_rows"] < len(etas) else []),
    ]
    hint = "".join(f"; {one}" for one in hints)
    out.print(f"hours left, {cores()} trials in parallel: {format_hours(facts)}{hint}", markup=False, soft_wrap=True)


def _format_settings(row: PlannedRow) -> str:
    """Format depth, width and all settings that are not the defaults of the model."""
    if not row.kind.has_epochs:
        return ", ".join(f"{key} {value}" for key, value in row.settings.items())
    from graphtrial.nn import model_settings

    defaults = model_settings(row.model.name)
    shown = (key for key, value in row.settings.items() if key in ("layers", "width") or defaults.get(key) != value)
    return ", ".join(f"{key} {row.settings[key]}" for key in shown)


def not_run(study: Study) -> list[str]:
    """Return the printed rows of the table of a study that cannot be run, with the reason; empty cells are left out."""
    if study.published is None:
        return []
    from graphtrial.published.lookup import parse_table
    from graphtrial.published.printed_results import experiments

    return [
        f"{row.description}: {row.reason}"
        for row in experiments(*parse_table(study.published))
        if row.reason and row.status != "not-used" and set(row.datasets) & set(study.datasets)
    ]


def records_of(path: Path) -> list[TrialRecord]:
    """Return the trials of a store; none if the file does not exist."""
    from graphtrial.trials import Store

    return Store(path, read_only=True).trials() if path.exists() else []


def searches_of(path: Path) -> list[SearchRecord]:
    """Return the finished searches of a store; none if the file does not exist."""
    from graphtrial.trials import Store
    from graphtrial.trials.store.searches import load_searches

    return load_searches(Store(path, read_only=True)) if path.exists() else []
