"""Input and output dimensions of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphSet
from graphtrial.tasks import Task, TaskLevel

ALL_LEVELS: tuple[TaskLevel, ...] = get_args(TaskLevel)
"""Levels of a model with an output for any task."""


@dataclass(frozen=True)
class EncodingShape:
    """Registered name and width of one encoding."""

    name: str
    width: int


@dataclass(frozen=True)
class Shapes:
    """Input and output dimensions of a model.

    Features are categorical (`node_types`, `edge_types`: number of categories) or continuous (`node_dim`, `edge_dim`);
    0 means not of that kind. `encoding_dim` is the width of the positional encoding, which is added to the embedded
    node features or, with `encoding_replaces`, replaces them. `num_nodes` is the size of a dataset's only graph, else
    0; `mean_nodes` the mean size of the (training) graphs, `degree_histogram` the number of their nodes by in-degree,
    empty where it is not known. `edge_ones` is the input width of the linear layer that stands in for missing edge
    features: more than 1 in the reference on TU sets, 0 (an embedding) on Wiki-CS.
    `encodings` are the parts of the positional encoding, in the order of its columns.
    `node_type_counts` and `edge_type_counts` are the numbers of categories where a row has several categorical columns,
    as in molecules of OGB.
    """

    outputs: int
    level: TaskLevel
    node_types: int = 0
    node_dim: int = 0
    edge_types: int = 0
    edge_dim: int = 0
    encoding_dim: int = 0
    encoding_replaces: bool = False
    num_nodes: int = 0
    mean_nodes: float = 0.0
    degree_histogram: tuple[int, ...] = ()
    edge_ones: int = 1
    encodings: tuple[EncodingShape, ...] = ()
    node_type_counts: tuple[int, ...] = ()
    edge_type_counts: tuple[int, ...] = ()

    @classmethod
    def of(cls, graphs: GraphSet, task: Task, *, encoding_dim: int = 0, encoding_replaces: bool = False) -> Shapes:
        """Return the shapes of a graph set and its task."""
        node, edge = graphs.columns.get("x"), graphs.columns.get("edge_attr")
        return cls(
            outputs=task.outputs,
            level=task.level,
            node_types=(node.types or 0) if node else 0,
            node_dim=node.width if node and node.types is None else 0,
            edge_types=(edge.types or 0) if edge else 0,
            edge_dim=edge.width if edge and edge.types is None else 0,
            encoding_dim=encoding_dim,
            encoding_replaces=encoding_replaces,
            node_type_counts=_type_counts(node),
            edge_type_counts=_type_counts(edge),
            num_nodes=graphs.num_nodes if len(graphs) == 1 else 0,
            mean_nodes=graphs.num_nodes / max(1, len(graphs)),
            degree_histogram=degree_histogram(graphs.in_degree),
        )

    @property
    def mean_log_degree(self) -> float:
        """Mean of log(in-degree + 1) over the nodes of `degree_histogram`, by which PNA scales; 0 without nodes."""
        counts = np.asarray(self.degree_histogram, np.float64)
        return float(counts @ np.log1p(np.arange(len(counts))) / counts.sum()) if len(counts) else 0.0

    def features_only(self) -> Shapes:
        """Return the shapes of the node features alone, without edges and encoding."""
        types, counts = self.node_types, self.node_type_counts
        return Shapes(self.outputs, self.level, types, self.node_dim, node_type_counts=counts)

    def require_one_category(self, model: str) -> None:
        """Raise an error where nodes or edges have several categories each, for a model that embeds a single one."""
        columns = len(self.node_type_counts) or len(self.edge_type_counts)
        if columns:
            raise GraphTrialError(
                f"these graphs have {columns} categories per node or edge, but {model} embeds a single one; choose a "
                "model with an input encoder, such as gcn or gps"
            )


def _type_counts(column: Column | None) -> tuple[int, ...]:
    """Return the number of categories of each column, if there are several."""
    if column is None or column.types is None or column.width == 1:
        return ()
    rows = np.asarray(column.values).reshape(len(column.values), -1)
    return tuple(int(count) + 1 for count in rows.max(axis=0, initial=0))


def degree_histogram(in_degree: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the number of nodes of each in-degree from 0 to the largest one, which PyG's PNA takes as `deg`."""
    return tuple(np.bincount(np.asarray(in_degree, np.int64)).tolist()) if len(in_degree) else ()
