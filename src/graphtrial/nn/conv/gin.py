"""Graph isomorphism network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import BatchNorm, Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate


@MODELS.register("gin", title="GIN")
class GIN(Conv):
    r"""Graph isomorphism layer, Xu et al. 2019 (arXiv:1810.00826).

    .. math:: h_i' = \mathrm{MLP}\big((1 + \epsilon)\, h_i + \sum_{j \to i} h_j\big)

    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    readout = "sum"
    layer_heads = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.epsilon = nn.Parameter(torch.zeros(()))
        self.mlp = nn.Sequential(Linear(width, width), BatchNorm(width, "relu"), Linear(width, width))

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.mlp(aggregate(graph, x, "sum", self_weight=1 + self.epsilon)), e
