"""Relative random-walk probabilities of a node to itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphtrial.core.arguments import Width
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.encodings.random_walk import RandomWalkPE
from graphtrial.graphs import GraphSet


@ENCODINGS.register("rrwp", title="RRWP")
class RRWP(Encoding):
    r"""The diagonal of the relative random-walk probabilities of GRIT (arXiv:2305.17589).

    .. math:: p_i = \big[I_{ii}, P_{ii}, (P^2)_{ii}, \dots, (P^{k-1})_{ii}\big], \quad P = D^{-1} A

    The constant 1 and the first k - 1 columns of `random-walk`. Probabilities of pairs are computed from the batch by
    models that use them (`graphtrial.graphs.pairs`).
    """

    name = "rrwp"
    abbreviation = "RRWP"

    @validated
    def __init__(self, k: Width) -> None:
        self.width = k

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        start = np.ones((graphs.num_nodes, 1), np.float32)
        return start if self.width == 1 else np.hstack([start, RandomWalkPE(self.width - 1).compute(graphs)])
