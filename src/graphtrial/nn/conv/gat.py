"""Graph attention."""

from __future__ import annotations

from types import MappingProxyType

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import add_row, aggregate, attention, attention_scores, edge_softmax
from graphtrial.ops import dropout as drop


@MODELS.register("gat", title="GAT")
class GAT(Conv):
    r"""Graph attention layer, Velickovic et al. 2018 (arXiv:1710.10903), with heads concatenated.

    .. math::
        z_i = W h_i, \qquad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, \mathrm{LeakyReLU}_{0.2}(a \cdot z_j + b \cdot z_i), \qquad
        h_i' = \sum_{j \to i} \alpha_{ji} z_j \; (+ \, c)

    `width` is the total width of all heads; `bias` adds c, as later versions of the reference's library do.
    `dropout` acts on h and on the attention weights alpha, and nowhere else.
    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    activation = "elu"
    width_divisor = "heads"
    last_layer = MappingProxyType({"heads": 1})
    dropout_inside = True

    def __init__(self, width: int, heads: Width = 8, bias: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.linear = Linear(width, width, bias=False)
        self.source = nn.Parameter(torch.empty(1, heads, width // heads))
        self.target = nn.Parameter(torch.empty(1, heads, width // heads))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        for weight in (self.linear.weight, self.source, self.target):
            nn.init.xavier_normal_(weight, gain=nn.init.calculate_gain("relu"))

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        dropout = self.dropout if self.training else 0.0
        z = self.linear(drop(x, dropout)).view(-1, *self.source.shape[1:])
        out = gat_attention(graph, z, self.source[0], self.target[0], 0.2, dropout).flatten(1)
        return out if self.bias is None else add_row(out, self.bias), e


def gat_attention(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float, dropout: float) -> Tensor:
    """Multi-head attention over in-neighbours (see `ops.attention`) with dropout on the attention weights."""
    if not dropout:
        return attention(graph, z, source, target, slope)
    alpha = edge_softmax(graph, attention_scores(graph, z, source, target, slope))
    return aggregate(graph, z, "sum", drop(alpha, dropout))
