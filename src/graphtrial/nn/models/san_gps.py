"""SAN, the spectral attention network, as in GraphGPS and LRGB."""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, NonNegativeFloat, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import complete_graph, pair_index
from graphtrial.nn.graphgps.edge_weights import edge_weights
from graphtrial.nn.graphgps.feed_forward import feed_forward
from graphtrial.nn.graphgps.head import Head, PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import EdgeInput, NodeInput
from graphtrial.nn.layers import BatchNorm, Dropout, Linear
from graphtrial.nn.position.encoder import EigenEncoder, PositionConfig
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, aggregate_messages

EPSILON = 1e-6


class SANAttention(nn.Module):
    r"""Attention over edges and, with other weights, over all other pairs of distinct nodes.

    .. math::
        w_{ij} = \frac{1}{1 + \gamma} \exp\big(\mathrm{clamp}(\textstyle\sum q_i k_j e_{ij} / \sqrt{d})\big)
        \;\text{or}\;
        \frac{\gamma}{1 + \gamma} \exp\big(\mathrm{clamp}(\textstyle\sum q'_i k'_j e' / \sqrt{d})\big), \qquad
        out_i = \frac{\sum_j w_{ij} v_j}{\sum_j w_{ij} + 10^{-6}}

    The sums go over the width of a head, clamped to [-5, 5]; e' is one vector for all pairs without an edge. No biases.
    x: [nodes, width], e: [edges or 1, width], other: [1, width] -> [nodes, width].
    """

    def __init__(self, width: int, heads: int, gamma: float) -> None:
        super().__init__()
        self.heads = heads
        self.gamma = gamma
        self.Q, self.K, self.E, self.Q2, self.K2, self.E2, self.V = (Linear(width, width, bias=False) for _ in range(7))

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor, other: Tensor) -> Tensor:
        shape = (len(x), self.heads, x.shape[1] // self.heads)
        value = self.V(x).view(shape)
        full = complete_graph(graph)
        weights = edge_weights(full, self.Q2(x), self.K2(x), self.E2(other), self.heads)
        edges, fake = graph.cached(f"pairs without edges {x.dtype}", lambda: _pairs_without_edges(graph, x.dtype))
        real = edge_weights(graph, self.Q(x), self.K(x), self.E(e), self.heads) / (1 + self.gamma)
        weights = (weights * (fake * (self.gamma / (1 + self.gamma)))).index_add(0, edges, real)
        total = aggregate_messages(full, weights)
        out = aggregate(full, value, "sum", weights) / (total + EPSILON).unsqueeze(2)
        return out.reshape(x.shape)


class SANLayer(nn.Module):
    """Attention, linear layer and feed-forward block, each with skip connection and batch norm, nodes only."""

    def __init__(self, width: int, heads: int, gamma: float, dropout: float) -> None:
        super().__init__()
        self.attention = SANAttention(width, heads, gamma)
        self.dropout = Dropout(dropout)
        self.output = Linear(width, width)
        self.attention_norm = BatchNorm(width)
        self.feed_forward = feed_forward(width, "relu", dropout, last_dropout=False)
        self.norm = BatchNorm(width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor, other: Tensor) -> Tensor:
        x = self.attention_norm(x + self.output(self.dropout(self.attention(graph, x, e, other))))
        out: Tensor = self.norm(x + self.feed_forward(x))
        return out


@MODELS.register("san-gps", title="SAN (GraphGPS)")
class GraphGPSSAN(nn.Module):
    """SAN, Kreuzer et al. 2021 (arXiv:2106.03893), as in GraphGPS (arXiv:2205.12454) and LRGB (arXiv:2206.08164).

    Differs from the original in the embedding of pairs without an edge, which is one of its own, and in the head.
    `gamma` weighs such pairs. Returns [graphs or nodes, outputs].
    """

    levels = ("graph", "node")
    width_divisor = "heads"

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 4,
        heads: Annotated[int, Range(1, 256)] = 4,
        gamma: NonNegativeFloat = 0.1,
        dropout: DropoutRate = 0.0,
        edge_features: bool = False,
        position_width: Annotated[int, Range(0, 4096)] = 0,
        eigen_encoder: EigenEncoder = "transformer",
        eigen_layers: Depth = 2,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        super().__init__()
        require_level("san-gps", shapes, self.levels)
        positions = PositionConfig(position_width, 0, eigen_encoder, eigen_layers)
        self.node_input = NodeInput(shapes, width, positions)
        self.edge_input = EdgeInput(shapes, width, use_features=edge_features)
        self.other_pairs = nn.Embedding(1, width)
        self.blocks = nn.ModuleList(SANLayer(width, heads, gamma, dropout) for _ in range(layers))
        self.head = PredictionHead(
            shapes, width, kind=head, layers=head_layers, l2=head_l2, readout=readout, dropout=dropout
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        x, e = self.node_input(graph), self.edge_input(graph)
        for block in self.blocks:
            x = block(graph, x, e, self.other_pairs.weight)
        out: Tensor = self.head(graph, x)
        return out


def _pairs_without_edges(graph: GraphBatch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the pair of each edge, [edges], and 1 for pairs of distinct nodes without an edge, else 0, [pairs, 1]."""
    nodes = torch.arange(graph.num_nodes, device=graph.batch.device)
    edges = pair_index(graph, graph.edge_index[1], graph.edge_index[0])
    fake = torch.ones(complete_graph(graph).num_edges, 1, dtype=dtype, device=nodes.device)
    fake[edges] = 0.0
    fake[pair_index(graph, nodes, nodes)] = 0.0
    return edges, fake
