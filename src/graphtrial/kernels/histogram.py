"""The cheap baselines: how many nodes and edges of each kind there are."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.structure import Structure


@KERNELS.register("vertex-histogram", title="Vertex histogram")
class VertexHistogram(GraphKernel):
    """Counts the nodes of each label: what can be told without looking at any edge."""

    def __init__(self, normalise: bool = True, output: Output = "gram") -> None:
        self.node_labels = True
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        label = structure.node_label
        return gram.counts(structure.graph_of_node, label, (structure.graphs, int(label.max(initial=0)) + 1))


@KERNELS.register("edge-histogram", title="Edge histogram")
class EdgeHistogram(GraphKernel):
    """Counts the edges by the labels of both ends and, where there are some, of the edge: one step, no structure.

    An edge that goes both ways counts twice, a to b and b to a.
    """

    def __init__(
        self,
        node_labels: bool = True,
        edge_labels: bool = True,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        self.node_labels = node_labels
        self.edge_labels = edge_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        label, labels = structure.node_label, int(structure.node_label.max(initial=0)) + 1
        target = np.repeat(np.arange(structure.nodes), np.diff(structure.ptr))
        key = label[structure.neighbour] * labels + label[target]
        if structure.edge_label is not None:
            kinds = int(structure.edge_label.max(initial=0)) + 1
            key = key * kinds + structure.edge_label
        found, column = np.unique(key, return_inverse=True)
        return gram.counts(structure.graph_of_node[target], column.reshape(-1), (structure.graphs, len(found)))
