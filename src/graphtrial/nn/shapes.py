"""What a model must know of its data, and nothing more."""

from __future__ import annotations

from dataclasses import dataclass

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphSet
from graphtrial.tasks import Task, TaskLevel


@dataclass(frozen=True)
class Shapes:
    """Sizes of what goes into a model and of what comes out.

    A feature is either a category (`node_types` ids) or a vector (`node_dim` numbers); 0 means it is not of that kind.
    `encoding_dim` numbers per node come from a positional encoding, which is added to the embedded node feature or,
    with `encoding_replaces`, takes its place. `num_nodes` is the size of the only graph where there is but one,
    `mean_nodes` that of the graphs on average, of those that are trained on where there are splits.
    `edge_ones` is the number of ones that stand for an edge without features; the reference has more than one on TU
    sets, and none on Wiki-CS, where the learnt vector is looked up instead.
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
    edge_ones: int = 1

    @classmethod
    def of(cls, graphs: GraphSet, task: Task, *, encoding_dim: int = 0, encoding_replaces: bool = False) -> Shapes:
        """Read the shapes off a set and its task."""
        node, edge = graphs.columns.get("x"), graphs.columns.get("edge_attr")
        for name, column in (("x", node), ("edge_attr", edge)):
            if column and column.types is not None and column.width != 1:
                raise GraphTrialError(f"'{name}' has {column.width} categories per row; models embed a single one")
        return cls(
            outputs=task.outputs,
            level=task.level,
            node_types=(node.types or 0) if node else 0,
            node_dim=node.width if node and node.types is None else 0,
            edge_types=(edge.types or 0) if edge else 0,
            edge_dim=edge.width if edge and edge.types is None else 0,
            encoding_dim=encoding_dim,
            encoding_replaces=encoding_replaces,
            num_nodes=graphs.num_nodes if len(graphs) == 1 else 0,
            mean_nodes=graphs.num_nodes / max(1, len(graphs)),
        )
