"""Baseline kernels: node label and edge label histograms."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.structure import Structure


@KERNELS.register("vertex-histogram", title="Vertex histogram")
class VertexHistogram(GraphKernel):
    r"""Vertex histogram kernel, phi_a(G) = number of nodes with label a; ignores the edges."""

    def __init__(self, normalise: bool = True, output: Output = "gram") -> None:
        self.node_labels = True
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        label = structure.node_label
        return gram.counts(structure.graph_of_node, label, (structure.graphs, int(label.max(initial=0)) + 1))


@KERNELS.register("edge-histogram", title="Edge histogram")
class EdgeHistogram(GraphKernel):
    """Edge histogram kernel: counts edges by (source label, target label, edge label).

    An undirected edge, stored in both directions, counts twice.
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
        unique, column = np.unique(key, return_inverse=True)
        return gram.counts(structure.graph_of_node[target], column.reshape(-1), (structure.graphs, len(unique)))
