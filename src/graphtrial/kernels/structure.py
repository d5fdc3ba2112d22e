"""CSR adjacency, labels and attributes of a graph set, as kernels use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphSet

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Structure:
    """Disjoint union of graphs in CSR form: the in-neighbours of node i are `neighbour[ptr[i]:ptr[i + 1]]`.

    `node_label` [nodes] are integers from 0, all 0 without labels (`labelled=False`). `edge_label` [edges] is parallel
    to `neighbour`, or None. `attributes` [nodes, attributes] are floats, of width 0 without any. `first_label` and
    `first_edge_label` are the raw values of label 0 in the file, or None where they were not recorded.
    """

    node_ptr: Array
    ptr: Array
    neighbour: Array
    node_label: Array
    edge_label: Array | None
    attributes: Array
    labelled: bool = True
    first_label: int | None = 0
    first_edge_label: int | None = 0

    @classmethod
    def of(
        cls, graphs: GraphSet, *, node_labels: bool = True, edge_labels: bool = False, attributes: bool = False
    ) -> Structure:
        """Build the structure of a set; requested labels that are absent become all 0."""
        node_ptr = np.asarray(graphs.node_ptr, np.int64)
        offset = np.repeat(node_ptr[:-1], graphs.edge_counts)
        labels, first = _labels(graphs, "node", ("node_label", "x")) if node_labels else (None, 0)
        links, first_link = _labels(graphs, "edge", ("edge_label", "edge_attr")) if edge_labels else (None, 0)
        return cls(
            node_ptr=node_ptr,
            ptr=np.concatenate([[0], np.cumsum(graphs.in_degree, dtype=np.int64)]),
            neighbour=np.asarray(graphs.edge_index[0], np.int64) + offset,
            node_label=np.zeros(graphs.num_nodes, np.int64) if labels is None else labels,
            edge_label=links,
            attributes=_attributes(graphs) if attributes else np.empty((graphs.num_nodes, 0)),
            labelled=labels is not None,
            first_label=first,
            first_edge_label=first_link,
        )

    def concatenate(self, other: Structure) -> Structure:
        """Concatenate with the graphs of another structure."""
        nodes, edges = self.nodes, len(self.neighbour)
        if (self.edge_label is None) != (other.edge_label is None):
            raise GraphTrialError("one of the two sets has edge labels and the other has none; compare them without")
        widths = self.attributes.shape[1], other.attributes.shape[1]
        if widths[0] != widths[1]:
            raise GraphTrialError(f"nodes of one set have {widths[0]} attributes and those of the other {widths[1]}")
        first, shift, other_shift = _common_first(self.first_label, other.first_label, self.labelled and other.labelled)
        first_link, link_shift, other_link_shift = _common_first(
            self.first_edge_label, other.first_edge_label, self.edge_label is not None
        )
        return Structure(
            node_ptr=np.concatenate([self.node_ptr, other.node_ptr[1:] + nodes]),
            ptr=np.concatenate([self.ptr, other.ptr[1:] + edges]),
            neighbour=np.concatenate([self.neighbour, other.neighbour + nodes]),
            node_label=np.concatenate([self.node_label + shift, other.node_label + other_shift]),
            edge_label=None
            if self.edge_label is None or other.edge_label is None
            else np.concatenate([self.edge_label + link_shift, other.edge_label + other_link_shift]),
            attributes=np.concatenate([self.attributes, other.attributes]),
            labelled=self.labelled or other.labelled,
            first_label=first,
            first_edge_label=first_link,
        )

    @property
    def graphs(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes of all graphs."""
        return int(self.node_ptr[-1])

    @property
    def graph_of_node(self) -> Array:
        """Graph index of each node [nodes]."""
        return np.repeat(np.arange(self.graphs), np.diff(self.node_ptr))


def _common_first(one: int | None, other: int | None, both: bool) -> tuple[int | None, int, int]:
    """Return the first raw label of two concatenated sets, and the offsets to add to the labels of each."""
    if one is None or other is None or one == other:
        return (one if one == other else None), 0, 0
    if not both:  # one of the two has no labels
        return one or other, 0, 0
    first = min(one, other)
    return first, one - first, other - first


def _labels(graphs: GraphSet, level: str, names: tuple[str, ...]) -> tuple[Array | None, int | None]:
    """Return the first categorical column among `names`, or None, and the raw value of its category 0.

    Degrees used as a substitute for missing features are not labels: kernels see the degree anyway.
    """
    for name in names:
        column = graphs.columns.get(name)
        if column is not None and column.level == level and column.types is not None and column.width == 1:
            values = np.asarray(column.values, np.int64).reshape(-1)
            if name != "x" or not np.array_equal(values, graphs.in_degree):
                return values, column.first_label
    return None, 0


def _attributes(graphs: GraphSet) -> Array:
    """Return the node attributes [nodes, attributes]; of width 0 without any."""
    for name in ("node_attributes", "x"):
        column = graphs.columns.get(name)
        if column is not None and column.level == "node" and column.values.dtype.kind == "f":
            return np.asarray(column.values, np.float64).reshape(graphs.num_nodes, -1)
    return np.empty((graphs.num_nodes, 0))
