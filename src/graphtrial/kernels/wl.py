"""Weisfeiler-Leman subtree kernel."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from scipy import sparse

from graphtrial.core.arguments import Steps
from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.refinement import initial_colours, refine
from graphtrial.kernels.structure import Structure

Array = npt.NDArray[Any]


@KERNELS.register("wl", title="1-WL")
class WeisfeilerLehman(GraphKernel):
    r"""Weisfeiler-Leman subtree kernel with `h` iterations, Shervashidze et al. 2011 (JMLR 12).

    .. math:: k(G, H) = \sum_{i=0}^{h} \sum_{c} \#_c^i(G) \, \#_c^i(H)

    where #_c^i counts the nodes of colour c after i rounds of colour refinement. Refinement is exact, without hash
    collisions. With `edge_labels` the colour of a neighbour is paired with the label of its edge.
    """

    def __init__(
        self,
        h: Steps = 5,
        node_labels: bool = True,
        edge_labels: bool = False,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        self.h = h
        self.node_labels = node_labels
        self.edge_labels = edge_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        return sparse.csr_matrix(
            sparse.hstack(colour_counts(structure, *initial_colours(structure), self.h), format="csr")
        )


def colour_counts(structure: Structure, colour: Array, colours: int, h: int) -> list[sparse.csr_matrix]:
    """Return the colour histograms [graphs, colours] of the given colours and of h rounds of refinement."""
    graph = structure.graph_of_node
    histograms = [gram.counts(graph, colour, (structure.graphs, colours))]
    for _ in range(h):
        colour, colours = refine(structure, colour, colours)
        histograms.append(gram.counts(graph, colour, (structure.graphs, colours)))
    return histograms
