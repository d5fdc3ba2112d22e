"""The Weisfeiler-Leman subtree kernel."""

from __future__ import annotations

from scipy import sparse

from graphtrial.errors import GraphTrialError
from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.refinement import refine, start
from graphtrial.kernels.structure import Structure


@KERNELS.register("wl")
class WeisfeilerLeman(GraphKernel):
    r"""Counts the colours of 0 to `h` steps of colour refinement, Shervashidze et al. 2011 (JMLR 12).

    .. math:: k(G, H) = \sum_{i=0}^{h} \sum_{c} \#_c^i(G) \, \#_c^i(H)

    Refinement is exact: no two different neighbourhoods get the same colour. With `edge_labels` a neighbour counts
    together with the label of its edge.
    """

    def __init__(
        self,
        h: int = 5,
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
        return sparse.csr_matrix(sparse.hstack(refinement_counts(structure, self.h), format="csr"))


def refinement_counts(structure: Structure, h: int) -> list[sparse.csr_matrix]:
    """Return the counts of the colours of steps 0 to h, one matrix [graphs, colours] each."""
    if h < 0:
        raise GraphTrialError(f"colours are refined 0 times or more; h is {h}")
    graph = structure.graph_of_node
    colour, colours = start(structure)
    made = [gram.counts(graph, colour, (structure.graphs, colours))]
    for _ in range(h):
        colour, colours = refine(structure, colour, colours)
        made.append(gram.counts(graph, colour, (structure.graphs, colours)))
    return made
