"""SAN, the spectral attention network, as in GraphGPS and LRGB."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, NonNegativeFloat, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.layout import check_attention
from graphtrial.nn.attention.pair_attention import gamma_weights
from graphtrial.nn.graphgps.head import Head, PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import EdgeInput, NodeFeatures, NodeInput
from graphtrial.nn.models.san import SANLayer
from graphtrial.nn.position.encoder import PositionConfig
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


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
        node_features: NodeFeatures = "embedding",
        position_width: Annotated[int, Range(0, 4096)] = 0,
        eigen_encoder: Literal["deepset", "transformer", "signnet-mlp", "signnet-deepset"] = "transformer",
        eigen_layers: Depth = 2,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        super().__init__()
        self.heads = heads
        require_level("san-gps", shapes, self.levels)
        positions = PositionConfig(position_width, 0, eigen_encoder, eigen_layers)
        self.node_input = NodeInput(shapes, width, positions, node_features)
        self.edge_input = EdgeInput(shapes, width, use_features=edge_features)
        self.other_pairs = nn.Embedding(1, width)
        self.gamma = gamma
        self.blocks = nn.ModuleList(
            SANLayer(width, heads, full_graph=True, norm="batch", dropout=dropout) for _ in range(layers)
        )
        self.head = PredictionHead(
            shapes, width, kind=head, layers=head_layers, l2=head_l2, readout=readout, dropout=dropout
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        check_attention(graph, self.heads, len(self.blocks), saved=3)
        x, e = self.node_input(graph), self.edge_input(graph)
        weights = gamma_weights(graph, torch.as_tensor(self.gamma).to(x))
        for block in self.blocks:
            x = block(graph, x, e, self.other_pairs.weight, weights)
        out: Tensor = self.head(graph, x)
        return out
