"""The tables of the papers as they are printed, with our rows in their places and what would run the missing ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphtrial import published
from graphtrial.core.errors import GraphTrialError
from graphtrial.published.layouts import PAPERS, Layout, layout_of, value_of
from graphtrial.published.models import find_in_table, published_models, table_numbers
from graphtrial.published.results import PublishedRow
from graphtrial.results.commands import planned_command
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.summary import Summary, summarise
from graphtrial.studies import load_study
from graphtrial.studies.from_table import encoding_facts
from graphtrial.studies.plan import PlannedRow, plan
from graphtrial.training import PROTOCOLS


@dataclass(frozen=True)
class Ours:
    """A row of ours in the place of a printed one; `score` is what is compared, none where it was not kept."""

    row: ResultRow
    score: Summary | None


@dataclass(frozen=True)
class Place:
    """A printed row with ours; `command` would run it, or `reason` says why nothing can."""

    printed: PublishedRow
    ours: tuple[Ours, ...]
    command: str = ""
    reason: str = ""

    @property
    def is_missing(self) -> bool:
        """The paper has a score here, and there is none of ours."""
        return self.printed.status != "not-used" and not self.ours


@dataclass(frozen=True)
class Line:
    """One line of a printed table: a place for each of the things side by side, none where the paper has nothing."""

    heading: str
    label: str
    before: tuple[str, ...]
    places: tuple[Place | None, ...]


@dataclass(frozen=True)
class PrintedTable:
    """A table of a paper in its own layout; `groups` are the titles of what is side by side, one empty one for none."""

    paper: str
    number: int
    title: str
    layout: Layout
    groups: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def study(self) -> str:
        """The study that runs the whole table."""
        return f"{self.paper}/table-{self.number}"

    @property
    def places(self) -> list[Place]:
        """All places in the order of the paper."""
        return [place for line in self.lines for place in line.places if place]


def printed_tables(rows: Sequence[ResultRow]) -> list[PrintedTable]:
    """Return all tables of the papers, with these rows in their places."""
    ours: dict[int, list[Ours]] = {}
    for row in rows:
        for printed, score in _places_of(row):
            ours.setdefault(id(printed), []).append(Ours(row, score))
    return [_table(paper, number, ours) for paper in PAPERS for number in table_numbers(paper)]


@cache
def planned_rows(study: str) -> tuple[PlannedRow, ...]:
    """Return the rows of a study that comes along, planned once."""
    return tuple(plan(load_study(study)))


def _places_of(row: ResultRow) -> Iterator[tuple[PublishedRow, Summary | None]]:
    """Yield the printed rows, in all tables, that a row of ours may stand beside, each with the score to compare."""
    spec = row.first.spec
    paper = spec.protocol.partition("/")[0]
    if paper not in PAPERS:
        return
    if paper.startswith("bgnn"):
        params = next((trial.params for trial in row.trials if trial.params is not None), None)
        facts = encoding_facts(spec.encoding)
        for number in table_numbers(paper):
            found = find_in_table(paper, number, spec.dataset, spec.model.name, spec.settings, facts, params)
            for printed in found.rows if found else ():
                yield printed, _score(row, printed)
        return
    if row.published is not None:
        for printed in [row.published] if paper == "wikics" else _of_same_trials(row.published):
            yield printed, row.scores("test") if printed is row.published else None
    for metric, score in row.extra_metrics.items() if paper == "wikics" else ():
        other = published.find_wikics(spec.dataset, spec.model.name, metric)
        if other is not None:
            yield other, score


def _of_same_trials(row: PublishedRow) -> list[PublishedRow]:
    """Return the rows of a table of TUDataset that are about the same model and data, one for each metric."""
    there = published.rows(row.paper, row.table)
    return [other for other in there if (other.dataset, other.model) == (row.dataset, row.model)]


def _score(row: ResultRow, printed: PublishedRow) -> Summary | None:
    """Return the score that a printed one is about: all trials or one repetition; single targets are not kept."""
    if printed.variant.get("target", "Average") != "Average":
        return None
    if printed.seed_run is None:
        return row.scores("test")
    protocol = row.first.spec.protocol.partition("@")[0]
    seeds = PROTOCOLS.get(protocol).seeds if protocol in PROTOCOLS else ()
    if len(seeds) < printed.seed_run:
        return None
    trials = [trial for trial in row.trials if trial.spec.seed == seeds[printed.seed_run - 1]]
    return summarise([trial.scores["test"] for trial in trials if "test" in trial.scores])


def _table(paper: str, number: int, ours: dict[int, list[Ours]]) -> PrintedTable:
    layout, printed = layout_of(paper, number), published.rows(paper, number)
    commands, reasons = _commands(paper, number)
    groups = list(dict.fromkeys(layout.group(row) for row in printed if None not in layout.group(row)))
    lines: dict[tuple[Any, ...], list[Place | None]] = {}
    firsts: dict[tuple[Any, ...], PublishedRow] = {}
    for row in printed:
        key = layout.group(row)
        at = groups.index(key) if key in groups else 0
        turn = 0  # two rows of one name and depth, such as those of 100k and 500k parameters, are two lines
        while (line := lines.setdefault((*layout.line(row), turn), [None] * len(groups)))[at] is not None:
            turn += 1
        firsts.setdefault((*layout.line(row), turn), row)
        line[at] = Place(row, tuple(ours.get(id(row), ())), commands.get(id(row), ""), reasons.get(id(row), ""))
    return PrintedTable(
        paper,
        number,
        load_study(f"{paper}/table-{number}").title,
        layout,
        tuple(_group_title(layout, group) for group in groups),
        tuple(_line(layout, firsts[key], places) for key, places in lines.items()),
    )


def _line(layout: Layout, row: PublishedRow, places: Sequence[Place | None]) -> Line:
    return Line(
        _words(layout.heading, value_of(row, layout.heading)) if layout.heading else "",
        str(value_of(row, layout.label)) or "no encoding",
        tuple(_words(name, value_of(row, name)) for name in layout.before),
        tuple(places),
    )


def _group_title(layout: Layout, group: tuple[Any, ...]) -> str:
    return ", ".join(_words(name, value) for name, value in zip(layout.across, group, strict=True))


SWITCHES = {
    "residual": "residual links",
    "bn": "batch norm",
    "gn": "graph norm",
    "self_loop": "self-loops",
    "edge_repr": "edge states",
    "edge_feat": "edge features",
}
ENCODINGS = {
    "none": "without positions",
    "lap-rand-sign": "with Laplacian eigenvectors, random signs",
    "lap-fixed-sign": "with Laplacian eigenvectors, fixed signs",
    "lap-abs": "with Laplacian eigenvectors, absolute values",
}


def _words(name: str, value: Any) -> str:
    """Return a value of a printed row in words."""
    if value is None:
        return ""
    if name in SWITCHES:
        return f"{'' if value else 'no '}{SWITCHES[name]}"
    if name == "PE":
        return ENCODINGS.get(value, value)
    return {"seed_run": f"seed {value}", "train_size": f"{value} graphs"}.get(name, str(value))


def _commands(paper: str, number: int) -> tuple[dict[int, str], dict[int, str]]:
    """Return what would run each printed row of a table, and why nothing can, by the identity of the row."""
    commands: dict[int, str] = {}
    reasons: dict[int, str] = {}
    name = f"{paper}/table-{number}"
    if paper.startswith("bgnn"):
        for made in published_models(paper, number):
            reasons |= {id(row): made.reason for row in made.rows if made.reason}
    try:
        rows = planned_rows(name)
    except GraphTrialError as error:  # a part of it needs a package or a file that is not here
        return {}, reasons | {id(row): str(error) for row in published.rows(paper, number)}
    for one in rows:
        for row in _printed_of(paper, number, one):
            commands.setdefault(id(row), planned_command(name, one))
    return commands, reasons


def _printed_of(paper: str, number: int, row: PlannedRow) -> Iterable[PublishedRow]:
    """Return the printed rows that a row of the table's study stands for."""
    if paper == "tudataset":
        found = published.find_tudataset(row.dataset, row.model.name, row.settings, trained=row.kind.has_epochs)
        return _of_same_trials(found) if found else []
    if paper == "wikics":
        both = (published.find_wikics(row.dataset, row.model.name, metric) for metric in (None, "AP"))
        return [found for found in both if found]
    facts, given = encoding_facts(row.encoding), row.settings
    return [
        printed
        for made in published_models(paper, number)
        if row.dataset in made.datasets and made.fits(row.model.name, {}, facts)
        if all(given.get(key) == value for key, value in made.settings.items())
        for printed in made.rows
    ]
