"""Node index as a one-hot encoding: the baseline of positional encodings."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.arguments import Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.graphs import GraphSet
from graphtrial.graphs.pointers import ranges
from graphtrial.graphs.transfer import to_device

Order = Literal["fixed", "random"]
MOST_NUMBERS = 1 << 31


@ENCODINGS.register("node-order", title="Node order")
class NodeOrder(Encoding):
    r"""The number of a node within its graph, as a one-hot vector of k (Murphy et al. 2019, arXiv:1903.02541).

    .. math:: p_i = e_{\pi(i)} \in \{0, 1\}^k

    The linear map that reads it is a learnt table with one row per number. k must be at least the number of nodes of
    the largest graph. `fixed` takes the order in which the dataset has the nodes; `random` shuffles the nodes of each
    graph for each training batch and keeps the dataset's order in evaluation.
    """

    name = "node-order"
    relabelling = "none"

    @validated
    def __init__(self, k: Width, order: Order = "fixed") -> None:
        self.k = self.width = k
        self.order = order

    def cache_key(self) -> dict[str, Any]:
        return {"k": self.width}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        counts = graphs.node_counts
        largest = int(counts.max(initial=0))
        if largest > self.width:
            raise GraphTrialError(
                f"these graphs have up to {largest} nodes, but node-order:{self.width} numbers {self.width}; "
                f"use node-order:{largest}"
            )
        if graphs.num_nodes * self.width > MOST_NUMBERS:
            raise GraphTrialError(
                f"node-order:{self.width} of {graphs.num_nodes} nodes would take "
                f"{graphs.num_nodes * self.width * 4 / 2**30:.0f} GiB; this encoding is for small graphs"
            )
        out = np.zeros((graphs.num_nodes, self.width), np.float32)
        out[np.arange(graphs.num_nodes), ranges(np.zeros_like(counts), counts)] = 1
        return out

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        if self.order == "fixed":
            return values
        graph = values[:, 0].long().cumsum(0)  # each graph begins where the number 0 is
        place = torch.argsort(torch.rand(len(values), generator=generator, dtype=torch.float32), stable=True)
        place = to_device(place, values.device)
        return values[place[torch.argsort(graph[place], stable=True)]]
