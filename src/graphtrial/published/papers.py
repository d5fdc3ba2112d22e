"""The papers and the layout of their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphtrial.published.data_files import read_lines

NOT_COMPARED = frozenset(
    {
        *("width", "position_width", "eigen_width", "edge_width", "phi_width", "narrowing"),
        *("idle_parameters", "expander_seed"),
    }
)
"""Sizes, which the numbers of parameters compare, and seeds."""


@dataclass(frozen=True)
class Paper:
    """A paper; its protocols are those with its name before the slash.

    A row of the paper matches a trial if the `compared_settings` that the model has are equal; without them, all
    settings but those in `NOT_COMPARED`.
    """

    name: str
    citation: str
    compared_settings: Sequence[str] | None = None


@dataclass(frozen=True)
class TableLayout:
    """A printed table.

    `groups` are the headings of groups of `columns`, one empty heading without groups; `label` is the heading of the
    first column, `before` the names of the columns between it and the groups. Rows of `main` tables are preferred to
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
"""Papers by name, in the order of their tables."""
TABLES: Mapping[tuple[str, int | str], TableLayout] = {
    (line["paper"], line["table"]): TableLayout(**line) for line in read_lines("tables.jsonl")
}
"""The tables whose layout is known, by paper and number."""
