"""GatedGCN+."""

from __future__ import annotations

from typing import Annotated

from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.graphgps.activation import Activation
from graphtrial.nn.graphgps.gated import GatedLayer
from graphtrial.nn.graphgps.head import Head, SumOrMean
from graphtrial.nn.graphgps.inputs import NodeFeatures
from graphtrial.nn.graphgps.plus import FeedForwardBlock, PlusModel
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


class GatedBlock(nn.Module):
    """GatedGCN layer of GraphGPS, with ReLU, and feed-forward block.

    x: [nodes, width], e: [edges or 1, width] -> the same shapes.
    """

    def __init__(
        self, width: int, *, activation: Activation, dropout: float, residual: bool, ffn: bool, last: bool
    ) -> None:
        super().__init__()
        self.local = GatedLayer(width, dropout, residual=residual, last=last)
        self.ffn = FeedForwardBlock(width, activation, dropout) if ffn else None

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        x, e = self.local(graph, x, e)
        return x if self.ffn is None else self.ffn(x), e


@MODELS.register("gatedgcn-plus", title="GatedGCN+")
class GatedGCNPlus(PlusModel):
    """GatedGCN+, Luo et al. 2025 (arXiv:2502.09263), as released: GatedGCN with feed-forward block.

    `activation` is that of feed-forward block and head; the layer itself has ReLU. Without `ffn` this is the GatedGCN
    of GraphGPS, LRGB (arXiv:2206.08164) and Tönshoff et al. 2023 (arXiv:2309.00367). Returns [graphs or nodes,
    outputs].
    """

    version = 2

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 4,
        dropout: DropoutRate = 0.0,
        activation: Activation = "relu",
        residual: bool = True,
        ffn: bool = True,
        edge_features: bool = False,
        edge_walk: Annotated[int, Range(0, 4096)] = 0,
        node_features: NodeFeatures = "embedding",
        position_width: Annotated[int, Range(0, 4096)] = 0,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        blocks: list[nn.Module] = [
            GatedBlock(width, activation=activation, dropout=dropout, residual=residual, ffn=ffn, last=at == layers - 1)
            for at in range(layers)
        ]
        super().__init__(
            shapes,
            width,
            blocks,
            dropout=dropout,
            activation=activation,
            edge_features=edge_features,
            edge_walk=edge_walk,
            node_features=node_features,
            position_width=position_width,
            readout=readout,
            head=head,
            head_layers=head_layers,
            head_l2=head_l2,
        )
