"""How likely a random walk is back where it started."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphSet


@ENCODINGS.register("random-walk", title="Random walk")
class RandomWalk(Encoding):
    r"""The probabilities that a random walk is back at its node after 1, 2, ... k steps (arXiv:2110.07875).

    .. math:: p_i = \big[P_{ii}, (P^2)_{ii}, \dots, (P^k)_{ii}\big], \quad P = D^{-1} A

    The walk leaves a node by one of its out-edges, each of parallel ones as likely; D holds the out-degrees. A walk
    that comes to a node without out-edges is over. Exact, without signs or bases to choose, the same for every small
    and large graph; a graph of n nodes and m edges takes n m k multiplications.
    """

    name = "random-walk"

    def __init__(self, k: int) -> None:
        if not isinstance(k, int) or isinstance(k, bool) or k < 1:
            raise GraphTrialError(f"a random-walk encoding needs at least 1 step; k is {k!r}")
        self.width = k

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        from graphtrial.encodings.walks import return_probabilities  # numba takes a moment to import

        out = np.zeros((graphs.num_nodes, self.width))
        pointers = [np.asarray(array, np.int64) for array in (graphs.node_ptr, graphs.edge_ptr)]
        return_probabilities(*pointers, np.ascontiguousarray(graphs.edge_index, np.int64), out)
        return out.astype(np.float32)
