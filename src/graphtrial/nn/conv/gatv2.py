"""Graph attention with dynamic scores."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import DropoutRate, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate, edge_add, edge_softmax
from graphtrial.ops import dropout as drop


@MODELS.register("gatv2", title="GATv2")
class GATv2(Conv):
    r"""Graph attention layer with dynamic attention, Brody et al. 2022 (arXiv:2105.14491), with heads concatenated.

    .. math::
        l_j = W_l h_j + b_l, \quad r_i = W_r h_i + b_r, \quad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, a \cdot \mathrm{LeakyReLU}_{0.2}(l_j + r_i \; [+ \, W_e e_{ji}]),
        \quad h_i' = \sum_{j \to i} \alpha_{ji} l_j + c

    As PyG's `GATv2Conv`: `share_weights` makes W_r = W_l, b_r = b_l; `edge_features` adds W_e, without a bias;
    `attention_dropout` acts on alpha. Self-loops are the setting `self_loops` of the model.
    x: [nodes, width] -> [nodes, width]; e: [edges, width], read with `edge_features` and never updated.
    """

    activation = "elu"
    width_divisor = "heads"

    def __init__(
        self,
        width: int,
        heads: Width = 8,
        share_weights: bool = False,
        attention_dropout: DropoutRate = 0.0,
        edge_features: bool = False,
    ) -> None:
        super().__init__()
        self.edge_input = edge_features
        self.attention_dropout = attention_dropout
        self.left = Linear(width, width)
        self.right = self.left if share_weights else Linear(width, width)
        self.edge = Linear(width, width, bias=False) if edge_features else None
        self.attention = nn.Parameter(torch.empty(1, heads, width // heads))
        self.bias = nn.Parameter(torch.zeros(width))
        for linear in (self.left, self.right):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        if self.edge is not None:
            nn.init.xavier_uniform_(self.edge.weight)
        nn.init.xavier_uniform_(self.attention)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        left = self.left(x)
        logits = edge_add(graph, left, left if self.right is self.left else self.right(x))
        if self.edge is not None and e is not None:
            logits = logits + self.edge(e)
        shape = (-1, *self.attention.shape[1:])
        scores = (F.leaky_relu(logits, 0.2).view(shape) * self.attention).sum(dim=2)
        alpha = drop(edge_softmax(graph, scores), self.attention_dropout, self.training)
        return aggregate(graph, left.view(shape), "sum", alpha).flatten(1) + self.bias, e
