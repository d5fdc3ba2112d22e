"""The papers and the layout of their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphtrial.published.data_files import read_lines


@dataclass(frozen=True)
class Paper:
    """A paper; its protocols are those with its name before the slash.

    A trial compares with a row of the paper where the `compared_settings` are equal, as far as the model has them.
    """

    name: str
    citation: str
    compared_settings: Sequence[str]


@dataclass(frozen=True)
class TableLayout:
    """A printed table.

    `groups` are the titles of what is set side by side (one empty title for nothing), each with the `columns`; `label`
    is the title of the first column, `before` names those between it and the groups. Rows of `main` tables go before
    those of ablation studies.
    """

    paper: str
    table: int
    main: bool
    label: str
    columns: Sequence[str]
    before: Sequence[str]
    groups: Sequence[str]


PAPERS: Mapping[str, Paper] = {line["name"]: Paper(**line) for line in read_lines("papers.jsonl")}
"""The papers by name, in the order in which their tables are listed."""
TABLES: Mapping[tuple[str, int], TableLayout] = {
    (line["paper"], line["table"]): TableLayout(**line) for line in read_lines("tables.jsonl")
}
"""The tables with results, by paper and number."""
