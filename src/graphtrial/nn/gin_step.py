"""GIN and GINE convolution with any MLP."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate, aggregate_messages


class GINStep(nn.Module):
    r"""GIN, Xu et al. 2019 (arXiv:1810.00826), or, with an edge encoder, GINE, Hu et al. 2020 (arXiv:1905.12265).

    .. math::
        h_i' = \mathrm{MLP}\big((1 + \epsilon) h_i + \sum_{j \to i} h_j\big)
        \quad \text{or} \quad
        \mathrm{MLP}\big((1 + \epsilon) h_i + \sum_{j \to i} \mathrm{ReLU}(h_j + \mathrm{enc}(f_{ji}))\big)

    Without `learn_epsilon`, epsilon is 0. x: [nodes, in], f: [edges, edge features], or one row for all edges ->
    [nodes, out].
    """

    def __init__(self, mlp: nn.Module, encoder: nn.Module | None = None, *, learn_epsilon: bool = True) -> None:
        super().__init__()
        self.mlp = mlp
        self.encoder = encoder
        self.epsilon = nn.Parameter(torch.zeros(())) if learn_epsilon else None

    def forward(self, graph: GraphBatch, x: Tensor, f: Tensor | None) -> Tensor:
        self_weight = x.new_ones(()) if self.epsilon is None else 1 + self.epsilon
        if self.encoder is None:
            summed = aggregate(graph, x, "sum", self_weight=self_weight)
        else:
            summed = self_weight * x + sum_of_relu(graph, x, self.encoder(f))
        out: Tensor = self.mlp(summed)
        return out


def sum_of_relu(graph: GraphBatch, x: Tensor, e: Tensor, scale: Tensor | None = None) -> Tensor:
    r"""Return :math:`\sum_{j \to i} s_j \mathrm{ReLU}(x_j + e_{ji})`. x: [nodes, width], e: [edges or 1, width].

    `scale` s: [nodes, 1], none for 1.
    With one edge state for all edges, messages depend on their source alone, and no tensor of all edges is made.
    """
    if len(e) == 1:
        sent = (x + e).relu()
        return aggregate(graph, sent if scale is None else sent * scale, "sum")
    messages = (x.index_select(0, graph.edge_index[0]) + e).relu()
    if scale is not None:
        messages = messages * scale.index_select(0, graph.edge_index[0])
    return aggregate_messages(graph, messages, "sum")
