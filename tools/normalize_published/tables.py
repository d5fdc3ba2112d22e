"""The papers and the layout of their tables: column groups, row labels, columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.normalize_published import benchmarking_gnns, tudataset, wikics
from tools.normalize_published.identity import Identity
from tools.normalize_published.raw import PrintedRow

SWITCHES = (
    *("layers", "edge_features", "residual", "batch_norm", "layer_norm", "graph_norm", "self_loops"),
    *("gated", "aggregator", "readout", "gru", "k"),
)
"""The settings by which the rows of the benchmark are distinguished; a row of another width is the same row."""


@dataclass(frozen=True)
class Layout:
    """One printed table.

    `across` names what is set side by side, each with the `columns`; `heading` what the lines are grouped by; `before`
    what begins a line after its label. A name is a field of the row, such as `dataset`, or a key of its variant.
    """

    columns: tuple[str, ...] = ("test", "train", "epochs", "time")
    across: tuple[str, ...] = ()
    heading: str = ""
    before: tuple[str, ...] = ("layers", "params")
    label: str = "label"

    def group(self, row: PrintedRow) -> tuple[Any, ...]:
        """Return the values of a row that are set side by side."""
        return tuple(row.value(name) for name in self.across)

    def line(self, row: PrintedRow) -> tuple[str, ...]:
        """Return the values that the rows of one line share."""
        return tuple(str(row.value(name)) for name in (self.heading, self.label, *self.before) if name)


@dataclass(frozen=True)
class Paper:
    """A paper: its citation, how its rows are identified, and the layouts of its tables that are not the usual one.

    `compared_settings` are the settings that a trial must share with a row of the paper to be compared with it; rows of
    `main_tables` go before those of ablation studies.
    """

    citation: str
    identify: Callable[[PrintedRow], Identity]
    compared_settings: tuple[str, ...] = ()
    main_tables: Sequence[int] = ()
    layouts: Mapping[int, Layout] = field(default_factory=dict)


_SIDE_BY_SIDE = Layout(("params", "test", "train", "epochs", "time"), ("dataset",), before=("layers",))
_RESIDUAL = Layout(("test", "time"), ("residual",), "dataset", ("params",))
_NORMS = Layout(("test",), ("bn", "gn"), "dataset", ("params",))
_EXTREMES = ("test", "test_max", "test_min", "train", "train_max", "train_min", "epochs", "time")
_EDGES = ("edge_feat", "edge_repr")
_SHORT = ("test", "train", "time")
PAPERS = {
    "bgnn-v5": Paper(
        "Dwivedi et al. 2022, Benchmarking Graph Neural Networks (arXiv:2003.00982v5)",
        benchmarking_gnns.identify,
        SWITCHES,
        range(3, 13),
        {
            7: _SIDE_BY_SIDE,
            8: _SIDE_BY_SIDE,
            10: Layout(_EXTREMES, heading="PE"),
            11: Layout(("test",), ("train_size",)),
            12: Layout(("test",), ("target",), before=("layers",)),
            13: Layout(_SHORT, heading="dataset"),
            14: Layout(_SHORT, heading="dataset", before=(*_EDGES, "layers", "params")),
            15: Layout(_SHORT, before=(*_EDGES, "aggregator", "layers")),
            16: Layout(_SHORT, ("seed_run",), "dataset", ("layers",)),
        },
    ),
    "bgnn-v1": Paper(
        "Dwivedi et al. 2020, Benchmarking Graph Neural Networks (arXiv:2003.00982v1)",
        benchmarking_gnns.identify,
        SWITCHES,
        range(2, 7),
        {
            2: Layout(("test", "time"), ("seed_run",), "dataset", ("params",)),
            **dict.fromkeys((3, 4, 5, 6), _RESIDUAL),
            7: Layout(("test", "time"), ("residual",)),
            8: _NORMS,
            11: _NORMS,
            12: Layout(("test", "time"), ("self_loop", "residual"), before=("params",), label="dataset"),
            13: Layout(("params", "test", "time"), ("edge_repr",), before=("hidden", "layers")),
            14: Layout(("test", "time"), ("residual",), before=("params",)),
            15: Layout(("test", "time"), ("seed_run",), "dataset", ("params",)),
        },
    ),
    "tudataset": Paper(
        "Morris et al. 2020, TUDataset (arXiv:2007.08663)",
        tudataset.identify,
        ("jumping",),
        (1, 2, 3),
        {
            1: Layout(("test",), ("dataset",), before=()),
            2: Layout(("test",), ("dataset",), before=()),
            3: Layout(("test",), ("dataset", "metric"), before=()),
        },
    ),
    "wikics": Paper(
        "Mernyei and Cangea 2020, Wiki-CS (arXiv:2007.02901)",
        wikics.identify,
        (),
        (2, 3, 4),
        {
            2: Layout(("test",), before=()),
            3: Layout(("test",), ("metric",), before=()),
            4: Layout(("test",), ("metric",), before=()),
        },
    ),
}
"""The papers, in the order in which their tables are listed."""

SWITCH_NAMES = {
    "residual": "residual links",
    "bn": "batch norm",
    "gn": "graph norm",
    "self_loop": "self-loops",
    "edge_repr": "edge states",
    "edge_feat": "edge features",
}
ENCODING_NAMES = {
    "none": "without positions",
    "lap-rand-sign": "with Laplacian eigenvectors, random signs",
    "lap-fixed-sign": "with Laplacian eigenvectors, fixed signs",
    "lap-abs": "with Laplacian eigenvectors, absolute values",
}


def layout_of(paper: str, table: int) -> Layout:
    """Return the layout of a table: the usual one is model, depth, size, test and train scores, epochs, time."""
    return PAPERS[paper].layouts.get(table, Layout())


def groups_of(layout: Layout, rows: Sequence[PrintedRow]) -> list[tuple[Any, ...]]:
    """Return the column groups of a table, in order."""
    return list(dict.fromkeys(layout.group(row) for row in rows if None not in layout.group(row)))


def group_titles(layout: Layout, rows: Sequence[PrintedRow]) -> list[str]:
    """Return the headings of the column groups; one empty heading without groups."""
    groups = groups_of(layout, rows)
    return [", ".join(_words(name, v) for name, v in zip(layout.across, group, strict=True)) for group in groups]


def positions(layout: Layout, rows: Sequence[PrintedRow]) -> list[dict[str, Any]]:
    """Return the position of each row of a table: line, column group, and the first cells of the line."""
    groups = groups_of(layout, rows)
    lines: dict[tuple[Any, ...], int] = {}
    filled: set[tuple[int, int]] = set()
    actual = []
    for row in rows:
        key = layout.group(row)
        group = groups.index(key) if key in groups else 0
        turn = 0  # two rows of one name and depth, such as those of 100k and 500k parameters, are two lines
        while (line := lines.setdefault((*layout.line(row), turn), len(lines)), group) in filled:
            turn += 1
        filled.add((line, group))
        actual.append(
            {
                "line": line,
                "group": group,
                "heading": _words(layout.heading, row.value(layout.heading)) if layout.heading else "",
                "label": str(row.value(layout.label)) or "no encoding",
                "before": [_words(name, row.value(name)) for name in layout.before],
            }
        )
    return actual


def _words(name: str, value: Any) -> str:
    """Return a value of a printed row as text."""
    if value is None:
        return ""
    if name in SWITCH_NAMES:
        return f"{'' if value else 'no '}{SWITCH_NAMES[name]}"
    if name == "PE":
        return str(ENCODING_NAMES.get(value, value))
    return {"seed_run": f"seed {value}", "train_size": f"{value} graphs"}.get(name, str(value))
