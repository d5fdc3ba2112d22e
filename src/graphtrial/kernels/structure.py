"""What a kernel sees of a graph set: neighbours and labels, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphSet

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Structure:
    """Many graphs as one: nodes are numbered through, the in-neighbours of node i are `neighbour[ptr[i]:ptr[i + 1]]`.

    Labels are whole numbers from 0; all nodes have label 0 where none are used, and `labelled` says whether some are.
    `edge_label` belongs to the entries of `neighbour`; nothing where none are used. `attributes` are real numbers of
    each node; none where none are used.
    """

    node_ptr: Array
    ptr: Array
    neighbour: Array
    node_label: Array
    edge_label: Array | None
    attributes: Array
    labelled: bool = True

    @classmethod
    def of(
        cls, graphs: GraphSet, *, node_labels: bool = True, edge_labels: bool = False, attributes: bool = False
    ) -> Structure:
        """Read the structure off a set; what is asked for and absent counts as all alike."""
        node_ptr = np.asarray(graphs.node_ptr, np.int64)
        offset = np.repeat(node_ptr[:-1], graphs.edge_counts)
        labels = _labels(graphs, "node", ("node_label", "x")) if node_labels else None
        return cls(
            node_ptr=node_ptr,
            ptr=np.concatenate([[0], np.cumsum(graphs.in_degree, dtype=np.int64)]),
            neighbour=np.asarray(graphs.edge_index[0], np.int64) + offset,
            node_label=np.zeros(graphs.num_nodes, np.int64) if labels is None else labels,
            edge_label=_labels(graphs, "edge", ("edge_label", "edge_attr")) if edge_labels else None,
            attributes=_attributes(graphs) if attributes else np.empty((graphs.num_nodes, 0)),
            labelled=labels is not None,
        )

    def then(self, other: Structure) -> Structure:
        """Return these graphs followed by others."""
        nodes, edges = self.nodes, len(self.neighbour)
        if (self.edge_label is None) != (other.edge_label is None):
            raise GraphTrialError("one of the two sets has edge labels and the other has none; compare them without")
        widths = self.attributes.shape[1], other.attributes.shape[1]
        if widths[0] != widths[1]:
            raise GraphTrialError(f"nodes of one set have {widths[0]} attributes and those of the other {widths[1]}")
        return Structure(
            node_ptr=np.concatenate([self.node_ptr, other.node_ptr[1:] + nodes]),
            ptr=np.concatenate([self.ptr, other.ptr[1:] + edges]),
            neighbour=np.concatenate([self.neighbour, other.neighbour + nodes]),
            node_label=np.concatenate([self.node_label, other.node_label]),
            edge_label=None
            if self.edge_label is None or other.edge_label is None
            else np.concatenate([self.edge_label, other.edge_label]),
            attributes=np.concatenate([self.attributes, other.attributes]),
            labelled=self.labelled or other.labelled,
        )

    @property
    def graphs(self) -> int:
        """The number of graphs."""
        return len(self.node_ptr) - 1

    @property
    def nodes(self) -> int:
        """The number of nodes of all graphs."""
        return int(self.node_ptr[-1])

    @property
    def graph_of_node(self) -> Array:
        """The graph of each node."""
        return np.repeat(np.arange(self.graphs), np.diff(self.node_ptr))


def _labels(graphs: GraphSet, level: str, names: tuple[str, ...]) -> Array | None:
    """Return the first column of categories among `names`, or nothing.

    A number of neighbours that stands in for labels is none: models need some feature, kernels see the degree anyhow.
    """
    for name in names:
        column = graphs.columns.get(name)
        if column is not None and column.level == level and column.types is not None and column.width == 1:
            values = np.asarray(column.values, np.int64).reshape(-1)
            if name != "x" or not np.array_equal(values, graphs.in_degree):
                return values
    return None


def _attributes(graphs: GraphSet) -> Array:
    """Return the real numbers of each node [nodes, attributes], of which there may be none."""
    for name in ("node_attributes", "x"):
        column = graphs.columns.get(name)
        if column is not None and column.level == "node" and column.values.dtype.kind == "f":
            return np.asarray(column.values, np.float64).reshape(graphs.num_nodes, -1)
    return np.empty((graphs.num_nodes, 0))
