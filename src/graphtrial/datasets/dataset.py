"""`Dataset`: the loaded graphs with splits, task and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import PARTS, DatasetSpec, Split, dataset_hash
from graphtrial.datasets.subset import Subset
from graphtrial.graphs import Column, GraphBatch, GraphSet, to_pyg
from graphtrial.graphs.mask_names import NONE, PART
from graphtrial.graphs.masks import MEANING
from graphtrial.tasks import Task

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class Dataset:
    """Loaded dataset: graphs, splits, task and provenance; immutable.

    `len(dataset)` is the number of graphs, `dataset[i]` one graph with PyG's attribute names, `dataset[:100]` or
    `dataset[mask]` a `GraphSet`; `train`, `val` and `test` are the parts of the first split, `parts(i)` those of split
    i. `provenance` is JSON-like: source, input files with their SHA-256, parser and library versions, and the
    comparison with published statistics.
    """

    name: str
    graphs: GraphSet
    splits: tuple[Split, ...]
    task: Task
    spec: DatasetSpec
    provenance: Mapping[str, Any]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of graphs and splits, part of the id of every trial on this dataset."""
        return dataset_hash(self.graphs, self.splits)

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, index: Any) -> GraphBatch | GraphSet:
        if isinstance(index, int | np.integer):
            return next(iter(self.graphs[index]))
        return self.graphs[index]

    def __iter__(self) -> Iterator[GraphBatch]:
        return iter(self.graphs)

    def parts(self, split: int = 0) -> dict[str, Subset]:
        """Return the training, validation and test part of a split: `train`, `val` and `test`."""
        if not 0 <= split < len(self.splits):
            raise GraphTrialError(f"dataset '{self.name}' has the splits 0 to {len(self.splits) - 1}, not {split}")
        ids = self.splits[split].parts
        return {part: Subset(self.graphs, ids[part], self.spec.split_level) for part in PARTS}

    @property
    def train(self) -> Subset:
        """Training part of the first split."""
        return self.parts()["train"]

    @property
    def val(self) -> Subset:
        """Validation part of the first split."""
        return self.parts()["val"]

    @property
    def test(self) -> Subset:
        """Test part of the first split."""
        return self.parts()["test"]

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data` objects with all splits.

        For a split of nodes or edges these are `train_mask`, `val_mask` and `test_mask`, [rows] or [rows, splits]; for
        one of graphs `split`, the name of the part, or one name per split.
        """
        return to_pyg(self.graphs if self.spec.split_level == "pair" else self.with_splits())

    def with_splits(self) -> GraphSet:
        """Return the graphs with a column `part`: the part of each example, [rows] or [rows, splits]."""
        level = self.spec.split_level
        if level == "pair" and PART in self.graphs.columns:  # which has pairs to draw negatives from, too
            return self.graphs
        part = np.full((self.graphs.size[level], len(self.splits)), NONE, np.uint8)
        for number, split in enumerate(self.splits):
            for index, ids in enumerate(split.parts.values()):
                part[ids, number] = index
        values = part[:, 0] if len(self.splits) == 1 else part
        return self.graphs.with_column(PART, Column(values, level, MEANING, types=NONE + 1))

    def __repr__(self) -> str:
        return f"Dataset({self.name}, {len(self.graphs)} graphs, {len(self.splits)} splits, {self.hash[:12]})"

    def _repr_html_(self) -> str:
        graphs, count, (train, val, test) = self.graphs, len(self.splits), self.splits[0].sizes
        splits = f"{count} splits" if count > 1 else "split"
        rows = {
            "task": f"{self.task.name}, {self.task.metric.title}",
            "graphs": f"{len(graphs):,}",
            "nodes": f"{graphs.num_nodes:,} ({graphs.num_nodes / max(1, len(graphs)):.1f} per graph)",
            "edges": f"{graphs.num_edges:,} directed ({graphs.num_edges / max(1, len(graphs)):.1f} per graph)",
            "columns": ", ".join(f"{name} ({c.level}, {list(c.values.shape)})" for name, c in graphs.columns.items()),
            splits: f"{train:,} train, {val:,} val, {test:,} test {self.spec.split_level}s",
            "licence": self.spec.licence,
            "content": self.hash[:12],
        }
        lines = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows.items())
        return f"<table><caption>{escape(self.spec.title)}</caption>{lines}</table>"
