"""`graphtrial list studies` and `graphtrial study --dry-run`: what would be run, how far it is, how long it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from graphtrial.cli.common import err, out
from graphtrial.core.errors import MissingDependencyError
from graphtrial.core.parallel import cores

if TYPE_CHECKING:
    from graphtrial.studies import Study
    from graphtrial.studies.eta import RowEta
    from graphtrial.studies.plan import PlannedRow
    from graphtrial.trials.store import TrialRecord


def study_entries(store: Path, *, estimate: bool, only: list[str]) -> list[dict[str, Any]]:
    """Return what `graphtrial list studies` tells of each study whose name begins as one of `only`, or of all."""
    from graphtrial.studies import catalog, load_study

    records = records_of(store)
    chosen = [name for name in catalog() if not only or name.startswith(tuple(only))]
    entries = []
    for name in chosen:
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
                "title": study.title,
                "paper": study.paper,
            }
        )
    return entries


def show_studies(entries: list[dict[str, Any]]) -> None:
    """Print the studies as a table for people."""
    table = Table("name", "dataset", "rows", "trials", "done", "hours left", "title")
    papers: dict[str, str] = {}
    for entry in entries:
        dataset = entry["dataset"]
        table.add_row(
            entry["name"],
            dataset if isinstance(dataset, str) else ", ".join(dataset),
            *("-" if entry[key] is None else str(entry[key]) for key in ("rows", "trials", "done")),
            hours_in_words(entry),
            entry["title"],
        )
        family, slash, _ = entry["name"].partition("/")
        if slash:
            papers.setdefault(family, entry["paper"].partition(", table")[0])
    out.print(table)
    for family, paper in papers.items():
        out.print(f"{family}: {paper}", markup=False, soft_wrap=True)
    out.print(
        f"Hours left: of the trials without a result, {cores()} at once on this machine; from finished trials and kept "
        "timings, + where some rows were never timed. --estimate times them.",
        soft_wrap=True,
    )


def row_etas(study: Study, records: list[TrialRecord], *, estimate: bool) -> list[RowEta]:
    """Return finished trials and estimated hours of each row; with `estimate`, untimed models are timed."""
    from graphtrial.studies.eta import study_eta

    return study_eta(
        study, records, measure=estimate, report=lambda message: err.print(message, markup=False, soft_wrap=True)
    )


def totals(etas: list[RowEta]) -> dict[str, Any]:
    """Return the sums over the rows of a study; the hours are those of all cores together."""
    known = [one.hours for one in etas if one.hours is not None]
    return {
        "rows": len(etas),
        "trials": sum(one.row.trials for one in etas),
        "done": sum(one.done for one in etas),
        "hours": sum(known) / cores() if known else None,
        "timed_rows": len(known),
    }


def hours_in_words(facts: dict[str, Any]) -> str:
    """Return the hours left: unknown, a number, or a number with + where some rows are not known."""
    if facts["hours"] is None:
        return "unknown"
    more = "+" if facts["timed_rows"] < facts["rows"] else ""
    return f"{facts['hours']:.1f}{more}" if facts["hours"] >= 0.05 or not facts["hours"] else f"<0.1{more}"


def show_plan(study: Study, store: Path, *, estimate: bool) -> None:
    """Print what a study would run, row by row; no data is needed for the studies of the catalog."""
    from graphtrial.encodings.notation import short_encoding

    etas = row_etas(study, records_of(store), estimate=estimate)
    facts = totals(etas)
    out.print(f"{study.title}: {facts['trials']} trials in {facts['rows']} rows, {facts['done']} of them done")
    table = Table("dataset", "model", "settings", "encoding", "protocol", "splits x seeds", "done", "hours left")
    for one in etas:
        settings = _settings_in_words(one.row)
        table.add_row(
            *(one.row.dataset, one.row.model.name, settings, short_encoding(one.row.encoding), one.row.protocol),
            *(f"{one.row.splits} x {len(one.row.seeds)}", str(one.done)),
            "unknown" if one.hours is None else f"{one.hours / cores():.2f}",
        )
    out.print(table)
    for words in not_run(study):
        out.print(f"not run: {words}", markup=False, soft_wrap=True)
    untimed = facts["timed_rows"] < facts["rows"]
    hint = "; `--estimate` times the models that were never timed here" if untimed else ""
    out.print(f"hours left, {cores()} trials at once: {hours_in_words(facts)}{hint}", markup=False, soft_wrap=True)


def _settings_in_words(row: PlannedRow) -> str:
    """Return depth and width, and what else is not as the model has it by default."""
    if not row.kind.has_epochs:
        return ", ".join(f"{key} {value}" for key, value in row.settings.items())
    from graphtrial.nn import model_settings

    usual = model_settings(row.model.name)
    shown = (key for key, value in row.settings.items() if key in ("layers", "width") or usual.get(key) != value)
    return ", ".join(f"{key} {row.settings[key]}" for key in shown)


def not_run(study: Study) -> list[str]:
    """Return the printed rows of the study's table that cannot be run, and why; dashes of the paper are not told."""
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
    """Return the trials of a store, none where there is no such file."""
    from graphtrial.trials import Store

    return Store(path, read_only=True).trials() if path.exists() else []
