"""GraphSage."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.lstm_aggregation import LSTMAggregation
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate, l2_normalize


@MODELS.register("graphsage", title="GraphSage")
class GraphSage(Conv):
    r"""GraphSage layer, Hamilton et al. 2017 (arXiv:1706.02216), with L2-normalised output.

    .. math::
        \hat h_i &= U \, [h_i \,\|\, \mathrm{mean}_{j \to i} \, h_j]
            \quad \text{or} \quad U \, [h_i \,\|\, \max_{j \to i} \mathrm{ReLU}(V h_j)]
            \quad \text{or} \quad U \, [h_i \,\|\, \mathrm{LSTM}_{j \to i} \, h_j] \\
        h_i' &= \hat h_i / \|\hat h_i\|_2

    With `own="pooled"` and max aggregation the root half is ReLU(V h_i) too, as in the code of arXiv:2003.00982 since
    December 2020. The LSTM reads neighbours by node index, so it alone is not permutation equivariant. Without `l2` the
    output is not normalised. x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    norm_last = True
    dropout_first = True

    def __init__(
        self,
        width: int,
        aggregator: Literal["max", "mean", "lstm"] = "max",
        own: Literal["plain", "pooled"] = "plain",
        l2: bool = True,
    ) -> None:
        super().__init__()
        if own == "pooled" and aggregator != "max":
            raise GraphTrialError(f"own='pooled' belongs to the aggregator max; {aggregator} has nothing to pool by")
        self.l2 = l2
        self.own_pooled = own == "pooled"
        self.pool = Linear(width, width) if aggregator == "max" else None
        self.lstm = LSTMAggregation(width) if aggregator == "lstm" else None
        self.linear = Linear(2 * width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if self.pool is not None:
            pooled = self.pool(x).relu()
            neighbours = aggregate(graph, pooled, "max")
            x = pooled if self.own_pooled else x
        else:
            neighbours = aggregate(graph, x, "mean") if self.lstm is None else self.lstm(graph, x)
        out = self.linear(torch.cat([x, neighbours], dim=1))
        return l2_normalize(out) if self.l2 else out, e
