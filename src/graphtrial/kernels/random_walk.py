"""The random-walk kernel, by the labels at both ends of the walks."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from graphtrial.core.arguments import PositiveFloat, Steps
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.structure import Structure


@KERNELS.register("random-walk", title="Random walk")
class RandomWalk(GraphKernel):
    r"""Compares walks of 0 to `steps` steps by their first and last label, damped by their length.

    .. math:: k(G, H) = \sum_{s=0}^{S} \lambda^s \sum_{a, b} w_{ab}^s(G) \, w_{ab}^s(H)

    where w counts the walks of s steps from a node with label a to one with label b. Without labels this is the
    geometric random-walk kernel of Gaertner et al. 2003 (COLT), cut off after S steps: the walks of the product graph
    are the pairs of walks. Comparing only the ends makes it explicit, and linear in the number of graphs.
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
        made = []
        for length in range(self.steps + 1):
            counted = (ends @ walks).tocoo()  # walks from a label, within each graph, to each label
            column = counted.row % labels * labels + counted.col
            weight = counted.data * self.damping ** (length / 2)
            shape = (graphs, labels * labels)
            made.append(sparse.csr_matrix((weight, (counted.row // labels, column)), shape=shape))
            walks = step @ walks
        return sparse.csr_matrix(sparse.hstack(made, format="csr"))
