"""Cycle counts: number of cycles of each length through a node."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.arguments import Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.graphs import GraphSet

MOST_STEPS = 2_000_000_000
"""Steps of the search in one graph, about ten seconds."""


@ENCODINGS.register("cycles", title="Cycle counts")
class CycleCounts(Encoding):
    r"""The numbers of cycles of 3, 4, ... k nodes through each node, k - 2 columns.

    .. math:: p_i = \big[|\{C \ni i : |C| = 3\}|, \dots, |\{C \ni i : |C| = k\}|\big]

    Cycles are simple and not necessarily induced, in the undirected simple graph: directions, self-loops and parallel
    edges do not count. The penalty of long rings is a part of the target of ZINC, and message passing cannot count
    cycles (Bouritsas et al. 2022, arXiv:2006.09252, count them as subgraphs). By enumeration of paths: for sparse
    graphs, such as molecules.
    """

    name = "cycles"
    abbreviation = "Cycles"

    @validated
    def __init__(self, k: Annotated[int, Range(3, 12)]) -> None:
        self.k = k
        self.width = k - 2

    def cache_key(self) -> dict[str, Any]:
        return {"longest": self.k}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        from graphtrial.encodings.cycle_counts import count_cycles  # numba takes a moment to import

        out = np.zeros((graphs.num_nodes, self.width), np.int64)
        node_ptr, edge_ptr = np.asarray(graphs.node_ptr, np.int64), np.asarray(graphs.edge_ptr, np.int64)
        edges = np.ascontiguousarray(graphs.edge_index, np.int64)
        failed = int(count_cycles(node_ptr, edge_ptr, edges, self.k, MOST_STEPS, out))
        if failed >= 0:
            raise GraphTrialError(
                f"graph {failed}, with {graphs.node_counts[failed]} nodes and {graphs.edge_counts[failed]} edges, has "
                f"too many paths of up to {self.k} nodes to count its cycles: count shorter ones, with cycles:3"
            )
        return out.astype(np.float32)
