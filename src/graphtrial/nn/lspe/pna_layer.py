"""PNA with positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.layers import Dropout
from graphtrial.nn.neighbourhood.pna_layer import Aggregation, PNALayer
from graphtrial.nn.neighbourhood.towers import TowerLinear


class PNALSPELayer(nn.Module):
    r"""Layer of PNA-LSPE, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    .. math:: h' = h + \mathrm{PNA}_h([h \| p], e), \qquad
        p' = p + \tanh\big(M \, \mathrm{dropout}(\mathrm{aggregation}_p(p, e))\big)

    where PNA is a `PNALayer` without its skip connection. Towers divide [h || p] from left to right, so that the first
    ones see only h and the last ones only p. x, p: [nodes, width], e: [edges, edge_width] -> x, p.
    """

    def __init__(self, node: PNALayer, position: Aggregation, width: int, *, dropout: float) -> None:
        super().__init__()
        self.node = node
        self.position = position
        self.dropout = Dropout(dropout)
        self.mixing = TowerLinear(1, width, width)

    def forward(self, graph: GraphBatch, x: Tensor, p: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor]:
        new_p = self.mixing(self.dropout(self.position(graph, p, e))).tanh()
        return x + self.node(graph, torch.cat([x, p], dim=1), e), p + new_p
