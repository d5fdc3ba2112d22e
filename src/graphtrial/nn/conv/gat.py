"""Graph attention."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.models import MODELS
from graphtrial.ops import attention


@MODELS.register("gat")
class GAT(Conv):
    r"""Graph attention layer, Velickovic et al. 2018 (arXiv:1710.10903), heads side by side.

    .. math::
        z_i = W h_i, \qquad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, \mathrm{LeakyReLU}_{0.2}(a \cdot z_j + b \cdot z_i), \qquad
        h_i' = \sum_{j \to i} \alpha_{ji} z_j \; (+ \, c)

    `width` is that of all heads together; `bias` adds c, as later versions of the reference's library do.
    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    activation = "elu"
    width_divisor = "heads"

    def __init__(self, width: int, heads: int = 8, bias: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)
        self.source = nn.Parameter(torch.empty(1, heads, width // heads))
        self.target = nn.Parameter(torch.empty(1, heads, width // heads))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        for weight in (self.linear.weight, self.source, self.target):
            nn.init.xavier_normal_(weight, gain=nn.init.calculate_gain("relu"))

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        z = self.linear(x).view(-1, *self.source.shape[1:])
        out = attention(graph, z, self.source[0], self.target[0], 0.2).flatten(1)
        return out if self.bias is None else out + self.bias, e
