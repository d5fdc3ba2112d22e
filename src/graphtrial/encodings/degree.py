"""Degree of a node as a one-hot encoding."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphtrial.core.arguments import Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.graphs import GraphSet

Direction = Literal["in", "out", "both"]
MOST_NUMBERS = 1 << 31


@ENCODINGS.register("degree", title="Degree")
class DegreeSE(Encoding):
    r"""The degree of a node as a one-hot vector of k.

    .. math:: p_i = e_{\min(d_i, k - 1)} \in \{0, 1\}^k

    The last class is k - 1 or more. The linear map that reads it is a learnt table of degrees, the centrality encoding
    of Graphormer (arXiv:2106.05234). d counts in-edges, out-edges or, in 2k columns, `both`; in an undirected graph
    these are the same. Self-loops and parallel edges count.
    """

    name = "degree"
    abbreviation = "Degree"

    @validated
    def __init__(self, k: Width, direction: Direction = "in") -> None:
        self.k = k
        self.direction = direction
        self.width = 2 * k if direction == "both" else k

    def cache_key(self) -> dict[str, Any]:
        return {"k": self.k, "direction": self.direction}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        if graphs.num_nodes * self.width > MOST_NUMBERS:
            size = graphs.num_nodes * self.width * 4 / 2**30
            raise GraphTrialError(
                f"degree:{self.k} of {graphs.num_nodes} nodes would take {size:.0f} GiB; use a smaller number"
            )
        degrees = {"in": [graphs.in_degree], "out": [graphs.out_degree]}
        chosen = degrees.get(self.direction) or [graphs.in_degree, graphs.out_degree]
        out = np.zeros((graphs.num_nodes, self.width), np.float32)
        for block, degree in enumerate(chosen):
            out[np.arange(graphs.num_nodes), block * self.k + np.minimum(degree, self.k - 1).astype(np.int64)] = 1
        return out
