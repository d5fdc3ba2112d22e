"""Result rows as tables in the layout of the papers, one per dataset and protocol: terminal, Markdown, LaTeX."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD

from graphtrial.core.terminal import TerminalTable
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.columns.terminal import terminal_table
from graphtrial.results.departures import EXPLANATION as BADGES
from graphtrial.results.export.markup import (
    BOLD,
    BOOKTABS,
    UNDERLINED,
    escape_latex,
    escape_markdown,
    latex_table,
    markdown_table,
)
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.chance import is_at_chance
from graphtrial.results.statistics.summary import PLUS_MINUS
from graphtrial.results.titles import dataset_title
from graphtrial.results.verdict import EXPLANATION as VERDICT

EXPLANATION = (
    f"Test and Train: mean ± standard deviation. {PLUS_MINUS} Epoch/Total: time per epoch and per trial, one thread. "
    f"Published: the test score as printed. Verdict, {VERDICT} {BADGES}"
)
SHORT_EXPLANATION = (
    "±: sample standard deviation (divisor n - 1) over trials. 95 % CI: confidence interval of their mean (Student's "
    "t, widened where splits share training examples; bootstrap under wikics/* protocols). Verdict on the printed "
    "score by TOST and Welch's t-test at 0.05; --json has the reason."
)
LATEX_CAPTION = (
    r"Mean $\pm$ sample standard deviation over trials%s and 95\,\%% confidence interval of the mean; best bold, "
    "second underlined, chance level never."
)


def tables_of(rows: Sequence[ResultRow]) -> dict[str, list[ResultRow]]:
    """Group rows into tables by title: one per dataset, protocol and departures."""
    tables: dict[str, list[ResultRow]] = {}
    for row in rows:
        tables.setdefault(_title(row), []).append(row)
    return tables


def terminal_tables(rows: Sequence[ResultRow]) -> list[TerminalTable]:
    """Return the rows as tables for the terminal; titles have the badges, which all rows of a table share."""
    return [
        terminal_table(ROW_COLUMNS, group, title=title, caption=SHORT_EXPLANATION, box=SIMPLE_HEAD)
        for title, group in tables_of(rows).items()
    ]


def markdown(rows: Sequence[ResultRow]) -> str:
    """Return the rows as Markdown tables."""
    parts = []
    for title, group in tables_of(rows).items():
        columns = ROW_COLUMNS.shown("markdown", group)
        headings, aligns = [column.heading for column in columns], [column.align for column in columns]
        table = markdown_table(headings, aligns, ([column.cell(row) for column in columns] for row in group))
        parts.append("\n".join([f"## {escape_markdown(title)}", "", table, "", EXPLANATION, ""]))
    return "\n".join(parts)


def latex(rows: Sequence[ResultRow], all_columns: bool = False) -> str:
    r"""Return the rows as LaTeX tables (`booktabs`) with caption and label, the best bold, the second underlined.

    The width of a page limits the default to the columns of the output `latex`; `all_columns` gives those of Markdown.
    """
    parts, labels = [BOOKTABS], set[str]()
    for title, group in tables_of(rows).items():
        columns = ROW_COLUMNS.shown("markdown" if all_columns else "latex", group)
        headings, aligns = [escape_latex(column.heading) for column in columns], [column.align for column in columns]
        lines = []
        for row, rank in zip(group, dense_ranks(group), strict=True):
            marks = {"test": {1: BOLD, 2: UNDERLINED}.get(rank or 0, "%s")}
            lines.append([marks.get(column.name, "%s") % escape_latex(column.cell(row)) for column in columns])
        caption = f"{escape_latex(title)}. {LATEX_CAPTION % _sample_sizes(group)}"
        parts.append(latex_table(caption, _label(group[0], labels), headings, aligns, lines))
    return "\n".join([*parts, "% " + EXPLANATION, ""])


def _sample_sizes(rows: Sequence[ResultRow]) -> str:
    """Return the number of values behind the means of a table, in LaTeX: `` ($n = 4$)``; empty without scores."""
    sizes = sorted({test.n for row in rows if (test := row.scores("test")) is not None})
    if len(sizes) < 2:
        return f" ($n = {sizes[0]}$)" if sizes else ""
    return f" ($n = {sizes[0]}$ to ${sizes[-1]}$)"


def dense_ranks(rows: Sequence[ResultRow]) -> list[int | None]:
    """Return the dense rank of each row of one table by its mean test score: 1 the best, ties equal.

    Means are compared as printed, with three digits; a row without a score, or at chance level, has no rank.
    """
    tests = [None if is_at_chance(row) else row.scores("test") for row in rows]
    means = [None if test is None else round(test.mean, 3) for test in tests]
    order = sorted({mean for mean in means if mean is not None}, reverse=bool(rows) and rows[0].first.higher_is_better)
    return [None if mean is None else order.index(mean) + 1 for mean in means]


def _title(row: ResultRow) -> str:
    spec = row.first.spec
    arrow = "higher is better" if row.first.higher_is_better else "lower is better"
    name, _, version = spec.protocol.partition("@")
    notes = "".join(f"; {departure.badge.upper()}: {departure.reason}" for departure in row.departures)
    return f"{dataset_title(spec.dataset)}: {row.first.metric} ({arrow}), protocol {name} version {version}{notes}"


def _label(row: ResultRow, taken: set[str]) -> str:
    r"""Return a label for `\ref`, unique within the text."""
    spec = row.first.spec
    words = re.sub(r"[^a-z0-9]+", "-", f"{spec.dataset} {spec.protocol.partition('@')[0]}".lower()).strip("-")
    label = f"tab:{words}"
    number = next(n for n in itertools.count(1) if (label if n == 1 else f"{label}-{n}") not in taken)
    label = label if number == 1 else f"{label}-{number}"
    taken.add(label)
    return label
