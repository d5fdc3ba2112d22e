"""`graphtrial list studies` and `graphtrial study --dry-run`: plan, progress and estimated time of studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.cli.common import err, out
from graphtrial.core.errors import MissingDependencyError
from graphtrial.core.parallel import cores
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.studies import Study
    from graphtrial.studies.eta import RowEta
    from graphtrial.studies.plan import PlannedRow
    from graphtrial.trials.store import TrialRecord
    from graphtrial.trials.store.searches import SearchRecord


def study_entries(store: Path, *, estimate: bool, only: list[str]) -> list[dict[str, Any]]:
    """Return the entries of `graphtrial list studies`, restricted to names with one of the prefixes `only`."""
    from graphtrial.studies import catalog, load_study
    from graphtrial.tuning.of_study import finished_searches, planned_searches

    records, searches = records_of(store), searches_of(store)
    entries = []
    for name in (name for name in catalog() if not only or name.startswith(tuple(only))):
        study = load_study(name)
        facts: dict[str, Any] = {"rows": None, "trials": None, "done": None, "hours": None, "timed_rows": None}
        try:
            facts = totals(row_etas(study, records, estimate=estimate))
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


def show_studies(entries: list[dict[str, Any]]) -> None:
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
    out.print(
        f"Hours left: estimated for the missing trials, {cores()} in parallel here, from finished trials and "
        "cached timings; + where some rows have no timing. --estimate measures them. Searches are not estimated.",
        soft_wrap=True,
    )


def row_etas(study: Study, records: list[TrialRecord], *, estimate: bool) -> list[RowEta]:
    """Return finished trials and estimated hours of each row; with `estimate`, untimed models are timed."""
    from graphtrial.studies.eta import study_eta

    return study_eta(
        study, records, measure=estimate, report=lambda message: err.print(message, markup=False, soft_wrap=True)
    )


def totals(etas: list[RowEta]) -> dict[str, Any]:
    """Return the sums over the rows of a study; the hours are wall-clock time on all cores."""
    hours = [eta.hours for eta in etas if eta.hours is not None]
    return {
        "rows": len(etas),
        "trials": sum(eta.row.trials for eta in etas),
        "done": sum(eta.done for eta in etas),
        "hours": sum(hours) / cores() if hours else None,
        "timed_rows": len(hours),
    }


def format_hours(facts: dict[str, Any]) -> str:
    """Format the hours left: unknown, a number, or a number with + where some rows have no estimate."""
    if facts["hours"] is None:
        return "unknown"
    more = "+" if facts["timed_rows"] < facts["rows"] else ""
    return f"{facts['hours']:.1f}{more}" if facts["hours"] >= 0.05 or not facts["hours"] else f"<0.1{more}"


def show_plan(study: Study, store: Path, *, estimate: bool) -> None:
    """Print the planned rows of a study; studies of the catalog need no data."""
    from graphtrial.encodings.notation import short_encoding
    from graphtrial.tuning.of_study import finished_searches, planned_searches

    etas = row_etas(study, records_of(store), estimate=estimate)
    facts = totals(etas)
    out.print(f"{study.title}: {facts['trials']} trials in {facts['rows']} rows, {facts['done']} of them done")
    texts = (TableColumn(heading) for heading in ("dataset", "model", "settings", "encoding"))
    counts = (TableColumn(heading, numeric=True) for heading in ("splits x seeds", "done", "hours left"))
    table = TerminalTable(*texts, TableColumn("protocol", priority=1), *counts)
    for eta in etas:
        row = eta.row
        table.add_row(
            *(row.dataset, row.model.name, _format_settings(row), short_encoding(row.encoding), row.protocol),
            *(f"{row.splits} x {len(row.seeds)}", str(eta.done)),
            "unknown" if eta.hours is None else f"{eta.hours / cores():.2f}",
        )
    out.print(table)
    searches = len(planned_searches(study))
    if searches:
        tuned = finished_searches(study, searches_of(store))
        out.print(f"then {searches} searches, {tuned} of them done; their hours are not estimated", soft_wrap=True)
    for message in not_run(study):
        out.print(f"not run: {message}", markup=False, soft_wrap=True)
    untimed = facts["timed_rows"] < facts["rows"]
    hint = "; `--estimate` times the untimed models" if untimed else ""
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
