"""Graph attention of the edge feature study."""

from __future__ import annotations

from types import MappingProxyType

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.conv.gat import gat_attention
from graphtrial.nn.registry import MODELS


@MODELS.register("gat-edgefeat", title="GAT (edge features)")
class EdgeFeatureGAT(Conv):
    r"""GAT of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14: other slope and init than `gat`.

    .. math::
        z_i = W h_i, \qquad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, \mathrm{LeakyReLU}_{0.01}(a \cdot [z_j \,\|\, z_i]), \qquad
        h_i' = \sum_{j \to i} \alpha_{ji} z_j

    `width` is the total width of all heads; `dropout` also acts on the attention weights alpha.
    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    activation = "elu"
    width_divisor = "heads"
    last_layer = MappingProxyType({"heads": 1})
    dropout_before_residual = True
    options = ("idle_edge_embedding",)

    def __init__(self, width: int, heads: Width = 8, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.linear = nn.Linear(width, width, bias=False)
        self.score = nn.Parameter(torch.empty(2, heads, width // heads))
        nn.init.uniform_(self.score, -((2 * width // heads) ** -0.5), (2 * width // heads) ** -0.5)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        z = self.linear(x).view(-1, *self.score.shape[1:])
        source, target = self.score
        dropout = self.dropout if self.training else 0.0
        return gat_attention(graph, z, source, target, 0.01, dropout).flatten(1), e
