"""SAN's and GraphiT's transformer layer with positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.attention.pair_attention import PairAttention
from graphtrial.nn.attention.transformer_block import PostNormBlock
from graphtrial.nn.layers import Dropout, Linear


class AttentionLSPELayer(nn.Module):
    r"""Layer of SAN-LSPE and GraphiT-LSPE, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    .. math:: h' = \mathrm{block}\big(\mathrm{attention}_h([h \| p]), h\big), \qquad
        p' = p + \tanh\big(O \, \mathrm{dropout}(\mathrm{attention}_p(p))\big)

    with `PairAttention` between all nodes of a graph and `PostNormBlock`. Without `positions` the attention reads h.
    x, p: [nodes, width] -> the same shapes.
    """

    def __init__(self, width: int, heads: int, *, positions: bool, dropout: float) -> None:
        super().__init__()
        self.attention = PairAttention(2 * width if positions else width, width, heads, full_graph=True)
        self.block = PostNormBlock(width, "batch", dropout)
        self.position_attention = PairAttention(width, width, heads, full_graph=True) if positions else None
        self.position_output = nn.Sequential(Dropout(dropout), Linear(width, width), nn.Tanh()) if positions else None

    def forward(
        self, graph: GraphBatch, x: Tensor, p: Tensor | None, e: Tensor, other: Tensor, pair_weights: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        both = x if p is None else torch.cat([x, p], dim=1)
        x = self.block(self.attention(graph, both, e, other, pair_weights), x)
        if p is not None and self.position_attention is not None and self.position_output is not None:
            p = p + self.position_output(self.position_attention(graph, p, e, other, pair_weights))
        return x, p
