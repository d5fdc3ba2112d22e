"""Tables of the papers in their printed layout, matched with our rows, and commands that run missing rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from graphtrial.core.errors import GraphTrialError
from graphtrial.published import PublishedResult, find_in_table, published_results
from graphtrial.published.lookup import compared_settings, models_in_table, same_experiment
from graphtrial.published.papers import TABLES, TableLayout
from graphtrial.results.commands import planned_command
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.summary import Summary, summarise
from graphtrial.studies import load_study
from graphtrial.studies.plan import PlannedRow, plan
from graphtrial.training import PROTOCOLS


@dataclass(frozen=True)
class MatchedRow:
    """A row of ours matched with a printed one; `score` is the compared one, none where it was not recorded."""

    row: ResultRow
    score: Summary | None


@dataclass(frozen=True)
class PrintedCell:
    """A printed row with the matching rows of ours; `command` runs it, `reason` is set where none does."""

    printed: PublishedResult
    matches: tuple[MatchedRow, ...]
    command: str = ""
    reason: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether the paper has a score and we have none."""
        return self.printed.status != "not-used" and not self.matches


@dataclass(frozen=True)
class Line:
    """One line of a printed table: a cell per group of columns, none where the paper has no score."""

    heading: str
    label: str
    before: tuple[str, ...]
    cells: tuple[PrintedCell | None, ...]


@dataclass(frozen=True)
class PrintedTable:
    """A table of a paper in its printed layout."""

    layout: TableLayout
    title: str
    lines: tuple[Line, ...]

    @property
    def paper(self) -> str:
        """The name of the paper."""
        return self.layout.paper

    @property
    def number(self) -> int:
        """The number of the table in the paper."""
        return self.layout.table

    @property
    def study(self) -> str:
        """The study that runs the whole table."""
        return f"{self.paper}/table-{self.number}"

    @property
    def cells(self) -> list[PrintedCell]:
        """All cells in the order of the paper."""
        return [cell for line in self.lines for cell in line.cells if cell]


def printed_tables(rows: Sequence[ResultRow]) -> list[PrintedTable]:
    """Return all tables of the papers, matched with these rows."""
    matches: dict[int, list[MatchedRow]] = {}
    for row in rows:
        for printed, score in _printed_rows_of(row):
            matches.setdefault(id(printed), []).append(MatchedRow(row, score))
    return [_table(layout, matches) for layout in TABLES.values()]


@cache
def planned_rows(study: str) -> tuple[PlannedRow, ...]:
    """Return the planned rows of a study of the catalog, cached."""
    return tuple(plan(load_study(study)))


def _printed_rows_of(row: ResultRow) -> Iterator[tuple[PublishedResult, Summary | None]]:
    """Yield the printed rows of all tables that match a row of ours, each with the score to compare."""
    spec = row.first.spec
    paper = spec.protocol.partition("/")[0]
    params = next((trial.params for trial in row.trials if trial.params is not None), None)
    for table in (number for name, number in TABLES if name == paper):
        printed = find_in_table(paper, table, spec.dataset, spec.model.name, spec.settings, spec.encoding, params)
        for one in printed:
            yield one, _score(row, one) if one.metric == printed[0].metric else row.extra_metrics.get(one.metric)


def _score(row: ResultRow, printed: PublishedResult) -> Summary | None:
    """Return the score to compare: over all trials or one repetition; scores of single targets are not recorded."""
    if printed.target is not None:
        return None
    if printed.repetition is None:
        return row.scores("test")
    protocol = row.first.spec.protocol.partition("@")[0]
    seeds = PROTOCOLS.get(protocol).seeds if protocol in PROTOCOLS else ()
    if len(seeds) < printed.repetition:
        return None
    trials = [trial for trial in row.trials if trial.spec.seed == seeds[printed.repetition - 1]]
    return summarise([trial.scores["test"] for trial in trials if "test" in trial.scores])


def _table(layout: TableLayout, matches: dict[int, list[MatchedRow]]) -> PrintedTable:
    study = f"{layout.paper}/table-{layout.table}"
    commands, error = _commands(study)
    lines: dict[int, list[PublishedResult]] = {}
    for row in published_results(layout.paper, layout.table):
        lines.setdefault(row.position.line, []).append(row)

    def cell(row: PublishedResult) -> PrintedCell:
        reason = error or row.reason or ""
        return PrintedCell(row, tuple(matches.get(id(row), ())), commands.get(id(row), ""), reason)

    return PrintedTable(
        layout,
        load_study(study).title,
        tuple(_line(rows, [cell(row) for row in rows], len(layout.groups)) for rows in lines.values()),
    )


def _line(rows: Sequence[PublishedResult], cells: Sequence[PrintedCell], groups: int) -> Line:
    position = rows[0].position
    by_group = {row.position.group: cell for row, cell in zip(rows, cells, strict=True)}
    return Line(position.heading, position.label, tuple(position.before), tuple(map(by_group.get, range(groups))))


def _commands(study: str) -> tuple[dict[int, str], str]:
    """Return the command of each printed row of a table, by `id()` of the row, and the error if none can be planned."""
    try:
        rows = planned_rows(study)
    except GraphTrialError as error:  # a missing package or file
        return {}, str(error)
    commands: dict[int, str] = {}
    for planned in rows:
        for printed in _printed_by(study, planned):
            commands.setdefault(id(printed), planned_command(study, planned))
    return commands, ""


def _printed_by(table: str, planned: PlannedRow) -> list[PublishedResult]:
    """Return the printed rows that a row of the table's study reproduces."""
    settings, name = planned.settings, planned.model.name
    compared = compared_settings(table.partition("/")[0], settings)
    return [
        printed
        for row, published in models_in_table(table, planned.dataset, name, compared, planned.encoding)
        if all(settings.get(key) == value for key, value in published.settings.items())
        for printed in same_experiment(row)
    ]
