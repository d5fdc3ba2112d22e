"""How the papers lay out their tables: what stands side by side, what begins a line, which numbers there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graphtrial.published.results import PublishedRow

Measure = Literal["params", "test", "test_max", "test_min", "train", "train_max", "train_min", "epochs", "time"]
PAPERS = {
    "bgnn-v5": "Dwivedi et al. 2022, Benchmarking Graph Neural Networks (arXiv:2003.00982v5)",
    "bgnn-v1": "Dwivedi et al. 2020, Benchmarking Graph Neural Networks (arXiv:2003.00982v1)",
    "tudataset": "Morris et al. 2020, TUDataset (arXiv:2007.08663)",
    "wikics": "Mernyei and Cangea 2020, Wiki-CS (arXiv:2007.02901)",
}
"""The papers, in the order in which their tables are listed."""


@dataclass(frozen=True)
class Layout:
    """One printed table.

    `across` names what is set side by side, each with the columns of `measures`; `heading` what the lines are grouped
    by; `before` what begins a line after its label. A name is a field of the row, such as `dataset`, or a key of its
    variant.
    """

    measures: tuple[Measure, ...] = ("test", "train", "epochs", "time")
    across: tuple[str, ...] = ()
    heading: str = ""
    before: tuple[str, ...] = ("layers", "params")
    label: str = "label"

    def group(self, row: PublishedRow) -> tuple[Any, ...]:
        """Return where a row stands among those side by side."""
        return tuple(value_of(row, name) for name in self.across)

    def line(self, row: PublishedRow) -> tuple[Any, ...]:
        """Return what a row shares with others of its line."""
        return tuple(str(value_of(row, name)) for name in (self.heading, self.label, *self.before) if name)


_SIDE_BY_SIDE = Layout(("params", "test", "train", "epochs", "time"), ("dataset",), before=("layers",))
_RESIDUAL = Layout(("test", "time"), ("residual",), "dataset", ("params",))
_NORMS = Layout(("test",), ("bn", "gn"), "dataset", ("params",))
LAYOUTS: Mapping[tuple[str, int], Layout] = {
    ("bgnn-v5", 7): _SIDE_BY_SIDE,
    ("bgnn-v5", 8): _SIDE_BY_SIDE,
    ("bgnn-v5", 10): Layout(
        ("test", "test_max", "test_min", "train", "train_max", "train_min", "epochs", "time"), heading="PE"
    ),
    ("bgnn-v5", 11): Layout(("test",), ("train_size",)),
    ("bgnn-v5", 12): Layout(("test",), ("target",), before=("layers",)),
    ("bgnn-v5", 13): Layout(("test", "train", "time"), heading="dataset"),
    ("bgnn-v5", 14): Layout(
        ("test", "train", "time"), heading="dataset", before=("edge_feat", "edge_repr", "layers", "params")
    ),
    ("bgnn-v5", 15): Layout(("test", "train", "time"), before=("edge_feat", "edge_repr", "aggregator", "layers")),
    ("bgnn-v5", 16): Layout(("test", "train", "time"), ("seed_run",), "dataset", ("layers",)),
    ("bgnn-v1", 2): Layout(("test", "time"), ("seed_run",), "dataset", ("params",)),
    ("bgnn-v1", 3): _RESIDUAL,
    ("bgnn-v1", 4): _RESIDUAL,
    ("bgnn-v1", 5): _RESIDUAL,
    ("bgnn-v1", 6): _RESIDUAL,
    ("bgnn-v1", 7): Layout(("test", "time"), ("residual",), before=("layers", "params")),
    ("bgnn-v1", 8): _NORMS,
    ("bgnn-v1", 11): _NORMS,
    ("bgnn-v1", 12): Layout(("test", "time"), ("self_loop", "residual"), before=("params",), label="dataset"),
    ("bgnn-v1", 13): Layout(("params", "test", "time"), ("edge_repr",), before=("hidden", "layers")),
    ("bgnn-v1", 14): Layout(("test", "time"), ("residual",), before=("params",)),
    ("bgnn-v1", 15): Layout(("test", "time"), ("seed_run",), "dataset", ("params",)),
    ("tudataset", 1): Layout(("test",), ("dataset",), before=()),
    ("tudataset", 2): Layout(("test",), ("dataset",), before=()),
    ("tudataset", 3): Layout(("test",), ("dataset", "metric"), before=()),
    ("wikics", 2): Layout(("test",), before=()),
    ("wikics", 3): Layout(("test",), ("metric",), before=()),
    ("wikics", 4): Layout(("test",), ("metric",), before=()),
}
"""The layouts that are not the usual one: model, depth and size, then test and train scores, epochs and time."""


def layout_of(paper: str, table: int) -> Layout:
    """Return the layout of a table."""
    return LAYOUTS.get((paper, table), Layout())


def value_of(row: PublishedRow, name: str) -> Any:
    """Return a field of a row or a key of its variant; none where it has neither."""
    return row.variant[name] if name in row.variant else getattr(row, name, None)
