"""GraphSage."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.models import MODELS
from graphtrial.ops import aggregate


@MODELS.register("graphsage")
class GraphSage(Conv):
    r"""GraphSage layer, Hamilton et al. 2017 (arXiv:1706.02216), with each row scaled to length 1.

    .. math::
        \hat h_i &= U \, [h_i \,\|\, \mathrm{mean}_{j \to i} \, h_j]
            \quad \text{or} \quad U \, [h_i \,\|\, \max_{j \to i} \mathrm{ReLU}(V h_j)] \\
        h_i' &= \hat h_i / \|\hat h_i\|_2

    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    norm_last = True
    dropout_first = True

    def __init__(self, width: int, aggregator: Literal["max", "mean"] = "max") -> None:
        super().__init__()
        self.pool = nn.Linear(width, width) if aggregator == "max" else None
        self.linear = nn.Linear(2 * width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        pool = self.pool
        neighbours = aggregate(graph, x, "mean") if pool is None else aggregate(graph, pool(x).relu(), "max")
        return F.normalize(self.linear(torch.cat([x, neighbours], dim=1))), e
