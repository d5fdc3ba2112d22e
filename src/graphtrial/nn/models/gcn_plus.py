"""GCN+."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import sum_of_relu
from graphtrial.nn.graphgps.activation import Activation
from graphtrial.nn.graphgps.gcn_convolution import GCNConvolution
from graphtrial.nn.graphgps.head import Head, SumOrMean
from graphtrial.nn.graphgps.plus import PlusBlock, PlusModel
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

Convolution = Literal["edge-sum", "gcn"]


class EdgeSum(nn.Module):
    r"""Sum of messages with edge states, :math:`h_i' = \sum_{j \to i} \mathrm{ReLU}(W h_j + e_{ji}) + b`.

    No degree normalisation and no self-loops. x: [nodes, width], e: [edges or 1, width] -> [nodes, width].
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor) -> Tensor:
        return sum_of_relu(graph, self.linear(x), e) + self.bias


@MODELS.register("gcn-plus", title="GCN+")
class GCNPlus(PlusModel):
    """GCN+, Luo et al. 2025 (arXiv:2502.09263), as released: with edge features, batch norm and feed-forward block.

    `convolution` "edge-sum", the released one on most datasets, is not a GCN: it sums ReLU(W h_j + e) over neighbours
    without normalisation. "gcn" is one, and does not read edge features. Without `ffn` and `batch_norm`, "gcn" is the
    GCN of Tönshoff et al. 2023 (arXiv:2309.00367). Returns [graphs or nodes, outputs].
    """

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 4,
        convolution: Convolution = "edge-sum",
        dropout: DropoutRate = 0.0,
        activation: Activation = "relu",
        residual: bool = True,
        batch_norm: bool = True,
        ffn: bool = True,
        edge_features: bool = False,
        edge_walk: Annotated[int, Range(0, 4096)] = 0,
        position_width: Annotated[int, Range(0, 4096)] = 0,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        conv = EdgeSum if convolution == "edge-sum" else GCNConvolution
        blocks: list[nn.Module] = [
            PlusBlock(
                conv(width),
                width,
                activation=activation,
                dropout=dropout,
                residual=residual,
                batch_norm=batch_norm,
                ffn=ffn,
            )
            for _ in range(layers)
        ]
        super().__init__(
            shapes,
            width,
            blocks,
            dropout=dropout,
            activation=activation,
            edge_features=edge_features,
            edge_walk=edge_walk,
            position_width=position_width,
            readout=readout,
            head=head,
            head_layers=head_layers,
            head_l2=head_l2,
        )
