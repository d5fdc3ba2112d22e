"""Result rows as Markdown, LaTeX, CSV, JSON and pandas.DataFrame."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.results.columns.rows import ROW_COLUMNS
from graphtrial.results.export.markup import csv_text
from graphtrial.results.export.tables import latex, markdown
from graphtrial.results.rows import ResultRow

Format = Literal["markdown", "latex", "csv", "json"]
FORMATS: tuple[str, ...] = get_args(Format)


def export(rows: Sequence[ResultRow], format: str, all_columns: bool = False) -> str:
    """Return the rows as text in one of `FORMATS`; Markdown and LaTeX have one table per dataset and protocol."""
    writers: dict[str, Callable[[], str]] = {
        "markdown": lambda: markdown(rows),
        "latex": lambda: latex(rows, all_columns),
        "csv": lambda: as_csv(rows),
        "json": lambda: as_json(rows),
    }
    if format not in writers:
        raise GraphTrialError(
            f"no format called '{format}'.{did_you_mean(format, writers)} Formats: {', '.join(writers)}."
        )
    return writers[format]()


def as_csv(rows: Sequence[ResultRow]) -> str:
    """Return the rows as comma-separated values: full precision, one scalar per column."""
    return csv_text(ROW_COLUMNS.flat_names(), [ROW_COLUMNS.scalars(row) for row in rows])


def as_json(rows: Sequence[ResultRow]) -> str:
    """Return the rows as JSON, each as `--json` prints it."""
    return json.dumps([row.to_dict() for row in rows], indent=2, ensure_ascii=False) + "\n"
