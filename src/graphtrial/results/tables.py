"""Tables in the papers' layout, for the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from graphtrial.results.departures import EXPLANATION as BADGES
from graphtrial.results.departures import badges
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.summary import PLUS_MINUS
from graphtrial.results.titles import dataset_title, distinguishing_settings, label_title
from graphtrial.results.verdict import EXPLANATION as VERDICT

HEADERS = (
    *("Model", "Encoding", "L", "#Param", "Test", "95 %", "min", "max", "Train"),
    *("#Epoch", "Epoch/Total", "Trials", "Published", "Verdict"),
)
EXPLANATION = (
    f"Test and Train: mean ± deviation. {PLUS_MINUS} Epoch/Total: time per epoch and per trial, one thread. "
    f"Published: the test score as printed. Verdict, {VERDICT} {BADGES}"
)

IN_SHORT = (
    "±: sample standard deviation (divisor n - 1) over trials. [ ]: 95 % interval of their mean (Student's t, widened "
    "where splits share training examples; resampled under wikics/* protocols). Verdict on the printed score by "
    "equivalence and Welch's tests at 0.05; --json tells why."
)
NOT_IN_TERMINAL = ("min", "max")
"""Columns that a terminal has no room for."""


def cells(row: ResultRow, differs: str = "") -> list[str]:
    """Return the cells of one table row, in the order of `HEADERS`; `differs` tells it from equal-looking ones."""
    test, printed = row.scores("test"), row.published
    epochs, seconds, hours = row.mean("epochs"), row.mean("epoch_seconds"), row.hours
    return [
        f"{label_title(row)} ({differs})" if differs else label_title(row),
        row.encoding,
        row.setting("layers"),
        str(row.params) if row.params and row.has_epochs else "",
        "-"
        if test is None
        else ", ".join([str(test), *(f"{name} {found}" for name, found in row.extra_metrics.items())]),
        "-" if test is None else ", ".join([test.interval, *(found.interval for found in row.extra_metrics.values())]),
        "-" if test is None else f"{test.min:.3f}",
        "-" if test is None else f"{test.max:.3f}",
        str(row.scores("train") or "-"),
        "-" if epochs is None or not row.has_epochs else f"{epochs:.1f}",
        times(seconds if row.has_epochs else None, hours),
        _trials(row),
        printed.test.printed if printed and printed.test else "-",
        verdict_cell(row),
    ]


def table_cells(rows: Sequence[ResultRow]) -> list[list[str]]:
    """Return the cells of all rows of one table."""
    return [cells(row, differs) for row, differs in zip(rows, distinguishing_settings(rows), strict=True)]


def verdict_cell(row: ResultRow) -> str:
    """Return the verdict with the badges of the row."""
    said = [] if row.published is None else [row.verdict.label]
    return " ".join([*said, badges(row)]).strip() or "-"


def titles(rows: Sequence[ResultRow]) -> dict[str, list[ResultRow]]:
    """Group rows into tables, one per dataset and training rules, and name each."""
    tables: dict[str, list[ResultRow]] = {}
    for row in rows:
        tables.setdefault(_title(row), []).append(row)
    return tables


def terminal_tables(rows: Sequence[ResultRow]) -> list[Table]:
    """Return the rows as tables for the terminal, whose titles have the badges: all rows of a table share them."""
    made = []
    for title, group in titles(rows).items():
        table = Table(title=title, title_justify="left", caption=IN_SHORT, caption_justify="left", box=SIMPLE_HEAD)
        for number, header in enumerate(HEADERS):
            if header not in NOT_IN_TERMINAL:
                table.add_column(header, justify="left" if number < 2 else "right", no_wrap=True)
        for row, line in zip(group, table_cells(group), strict=True):
            short = "-" if row.published is None else row.verdict.label
            told = zip(HEADERS, [*line[:-1], short], strict=True)
            table.add_row(*(cell for header, cell in told if header not in NOT_IN_TERMINAL))
        made.append(table)
    return made


def markdown(rows: Sequence[ResultRow]) -> str:
    """Return the rows as Markdown tables."""
    parts = []
    for title, group in titles(rows).items():
        lines = [
            f"## {escape_markdown(title)}",
            "",
            _line(HEADERS),
            "|" + " --- |" * 2 + " ---: |" * (len(HEADERS) - 2),
        ]
        parts.append("\n".join([*lines, *map(_line, table_cells(group)), "", EXPLANATION, ""]))
    return "\n".join(parts)


def _title(row: ResultRow) -> str:
    spec = row.first.spec
    arrow = "higher is better" if row.first.higher_is_better else "lower is better"
    name, _, version = spec.protocol.partition("@")
    notes = "".join(f"; {departure.badge.upper()}: {departure.reason}" for departure in row.departures)
    return f"{dataset_title(spec.dataset)}: {row.first.metric} ({arrow}), protocol {name} version {version}{notes}"


def times(epoch_seconds: float | None, hours: float | None) -> str:
    """Return the time per epoch and per trial as the papers write it: `1.01s/0.03hr`."""
    epoch = "-" if epoch_seconds is None else f"{epoch_seconds:.2f}s"
    return "-" if hours is None else f"{epoch}/{_duration(hours)}"


def _duration(hours: float) -> str:
    return f"{hours:.2f}hr" if hours >= 0.1 else f"{3600 * hours:.0f}s"


def _trials(row: ResultRow) -> str:
    others = [f"{count} {status}" for status, count in row.statuses.items() if status != "done"]
    derived = f" ({len(row.derived_seeds)} seeds derived)" if row.derived_seeds else ""
    return ", ".join([str(row.statuses.get("done", 0)), *others]) + derived


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(escape_markdown(value) for value in values) + " |"


def escape_markdown(text: str) -> str:
    """Return a text that Markdown prints as it stands, in a table too."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
