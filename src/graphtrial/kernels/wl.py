"""The Weisfeiler-Leman subtree kernel."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from scipy import sparse

from graphtrial.core.arguments import Steps
from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.refinement import refine, start
from graphtrial.kernels.structure import Structure

Array = npt.NDArray[Any]


@KERNELS.register("wl", title="1-WL")
class WeisfeilerLeman(GraphKernel):
    r"""Counts the colours of 0 to `h` steps of colour refinement, Shervashidze et al. 2011 (JMLR 12).

    .. math:: k(G, H) = \sum_{i=0}^{h} \sum_{c} \#_c^i(G) \, \#_c^i(H)

    Refinement is exact: no two different neighbourhoods get the same colour. With `edge_labels` a neighbour counts
    together with the label of its edge.
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
        return sparse.csr_matrix(sparse.hstack(colour_counts(structure, *start(structure), self.h), format="csr"))


def colour_counts(structure: Structure, colour: Array, colours: int, h: int) -> list[sparse.csr_matrix]:
    """Return the counts of these colours and of those of h steps of refinement, [graphs, colours] each."""
    graph = structure.graph_of_node
    made = [gram.counts(graph, colour, (structure.graphs, colours))]
    for _ in range(h):
        colour, colours = refine(structure, colour, colours)
        made.append(gram.counts(graph, colour, (structure.graphs, colours)))
    return made
