"""Random-walk structural encoding: return probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphtrial.core.arguments import Width
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.graphs import GraphSet


@ENCODINGS.register("random-walk", title="Random walk")
class RandomWalkPE(Encoding):
    r"""Return probabilities of a random walk after 1, 2, ... k steps (arXiv:2110.07875).

    .. math:: p_i = \big[P_{ii}, (P^2)_{ii}, \dots, (P^k)_{ii}\big], \quad P = D^{-1} A

    The walk leaves a node by one of its out-edges, parallel ones included; D is the diagonal of out-degrees. A
    node without out-edges is a sink: the walk is absorbed. Exact, without signs or bases to choose, the same for every
    small and large graph; a graph of n nodes and m edges takes n m k multiplications.
    """

    name = "random-walk"
    abbreviation = "RWSE"

    @validated
    def __init__(self, k: Width) -> None:
        self.k = self.width = k

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        from graphtrial.encodings.return_probabilities import return_probabilities  # numba takes a moment to import

        out = np.zeros((graphs.num_nodes, self.width))
        node_ptr, edge_ptr = np.asarray(graphs.node_ptr, np.int64), np.asarray(graphs.edge_ptr, np.int64)
        return_probabilities(node_ptr, edge_ptr, np.ascontiguousarray(graphs.edge_index, np.int64), out)
        return out.astype(np.float32)
