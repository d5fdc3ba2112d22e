"""Random-walk kernel with explicit features: walks by their end labels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from graphtrial.core.arguments import PositiveFloat, Steps
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.structure import Structure


@KERNELS.register("random-walk", title="Random walk")
class RandomWalk(GraphKernel):
    r"""Truncated geometric random-walk kernel over walks of 0 to `steps` steps, matched by first and last label.

    .. math:: k(G, H) = \sum_{s=0}^{S} \lambda^s \sum_{a, b} w_{ab}^s(G) \, w_{ab}^s(H)

    where w counts the walks of s steps from a node with label a to one with label b, and lambda is `damping`. Without
    labels this is the geometric random-walk kernel of Gaertner et al. 2003 (COLT) truncated after S steps: walks of
    the direct product graph are pairs of walks. Matching only the end labels makes the feature map explicit.
    """

    def __init__(
        self,
        steps: Steps = 4,
        damping: PositiveFloat = 0.1,
        node_labels: bool = True,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        self.steps = steps
        self.damping = damping
        self.node_labels = node_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        labels = int(structure.node_label.max(initial=0)) + 1
        nodes, graphs = structure.nodes, structure.graphs
        ones, arange = np.ones(len(structure.neighbour)), np.arange(nodes)
        step = sparse.csr_matrix((ones, structure.neighbour, structure.ptr), shape=(nodes, nodes))
        key = structure.graph_of_node * labels + structure.node_label
        ends = sparse.csr_matrix((np.ones(nodes), (key, arange)), shape=(graphs * labels, nodes))
        walks = sparse.csr_matrix((np.ones(nodes), (arange, structure.node_label)), shape=(nodes, labels))
        blocks = []
        for length in range(self.steps + 1):
            counted = (ends @ walks).tocoo()  # walks from a label, within each graph, to each label
            column = counted.row % labels * labels + counted.col
            weight = counted.data * self.damping ** (length / 2)
            shape = (graphs, labels * labels)
            blocks.append(sparse.csr_matrix((weight, (counted.row // labels, column)), shape=shape))
            walks = step @ walks
        return sparse.csr_matrix(sparse.hstack(blocks, format="csr"))
