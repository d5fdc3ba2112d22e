"""GatedGCN with positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import graph_norm
from graphtrial.nn.layers import BatchNorm, Dropout, Linear
from graphtrial.ops import aggregate_messages, gated_mean

GATE_EPS = 1e-6


class GatedGCNLSPELayer(nn.Module):
    r"""Layer of GatedGCN-LSPE, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    .. math::
        \hat e_{ji} &= B_1 h_j + B_2 h_i + B_3 e_{ji}, \qquad
        \eta_{ji} = \frac{\sigma(\hat e_{ji})}{\sum_{k \to i} \sigma(\hat e_{ki}) + 10^{-6}} \\
        h_i' &= h_i + \mathrm{ReLU}\,\mathrm{BN}\Big(\tfrac{1}{\sqrt n}
            \big(A_1 [h_i \| p_i] + \textstyle\sum_{j \to i} \eta_{ji} \odot A_2 [h_j \| p_j]\big)\Big) \\
        e_{ji}' &= e_{ji} + \mathrm{ReLU}\,\mathrm{BN}(\hat e_{ji}), \qquad
        p_i' = p_i + \tanh\Big(C_1 p_i + \textstyle\sum_{j \to i} \eta_{ji} \odot C_2 p_j\Big)

    with n the number of nodes of the graph, and dropout on all three. Without `positions`, A_1 and A_2 read h alone,
    and there is no division by the root of n. The `last` layer leaves edge states unchanged. x, p: [nodes, width], e:
    [edges or 1, width] -> x, p, e.
    """

    def __init__(self, width: int, *, positions: bool, last: bool, dropout: float) -> None:
        super().__init__()
        self.last = last
        inputs = 2 * width if positions else width
        self.A1, self.A2 = Linear(inputs, width), Linear(inputs, width)
        self.B1, self.B2, self.B3 = (Linear(width, width) for _ in range(3))
        self.C1 = Linear(width, width) if positions else None
        self.C2 = Linear(width, width) if positions else None
        self.node_norm, self.edge_norm = BatchNorm(width, "relu"), BatchNorm(width, "relu")
        self.dropout = Dropout(dropout)

    def forward(
        self, graph: GraphBatch, x: Tensor, p: Tensor | None, e: Tensor
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        both = x if p is None else torch.cat([x, p], dim=1)
        neighbours, logits = gated_mean(graph, self.B1(x), self.B2(x), e, self.A2(both), self.B3.weight, self.B3.bias)
        new = self.A1(both) + neighbours
        if p is not None and self.C1 is not None and self.C2 is not None:
            new = new * graph_norm(graph, "node", x.dtype)
            p = self.dropout(p + (self.C1(p) + _gated(graph, logits, self.C2(p))).tanh())
        new_e = e if self.last else self.dropout(self.edge_norm(logits, e))
        return self.dropout(self.node_norm(new, x)), p, new_e


def _gated(graph: GraphBatch, logits: Tensor, value: Tensor) -> Tensor:
    """Return the mean of the sources' values with the gates of edges. logits: [edges, width] -> [nodes, width]."""
    gate = logits.sigmoid()
    total = aggregate_messages(graph, gate) + GATE_EPS
    return aggregate_messages(graph, gate * value.index_select(0, graph.edge_index[0])) / total
