"""GCN+."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.graphgps.activation import Activation
from graphtrial.nn.graphgps.gcn_convolution import GCNConvolution
from graphtrial.nn.graphgps.head import Head, SumOrMean
from graphtrial.nn.graphgps.inputs import NodeFeatures
from graphtrial.nn.graphgps.plus import PlusBlock, PlusModel
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import add_row, relu_sum, self_loop_scales

Convolution = Literal["gcn-edges", "edge-sum", "gcn"]


class EdgeGCN(nn.Module):
    r"""Graph convolution with edge states and self-loops, d in-degrees with the loop:

    .. math:: h_i' = \sum_{j \to i} \frac{\mathrm{ReLU}(W h_j + e_{ji})}{\sqrt{d_j d_i}}
        + \frac{\mathrm{ReLU}(W h_i)}{d_i} + b

    Without `normalize` the plain sum over neighbours, without a loop. x: [nodes, width], e: [edges or 1, width] ->
    [nodes, width].
    """

    def __init__(self, width: int, *, normalize: bool = True) -> None:
        super().__init__()
        self.linear = Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        self.normalize = normalize

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor) -> Tensor:
        x = self.linear(x)
        if not self.normalize:
            return add_row(relu_sum(graph, x, e), self.bias)
        scale, loop_scale = self_loop_scales(graph, x.dtype)
        return add_row((relu_sum(graph, x, e, scale) + x.relu() * loop_scale) * scale, self.bias)


@MODELS.register("gcn-plus", title="GCN+")
class GCNPlus(PlusModel):
    """GCN+, Luo et al. 2025 (arXiv:2502.09263): with edge features, batch norm and feed-forward block.

    `convolution` "edge-sum", the released one on most datasets, is no GCN: it sums ReLU(W h_j + e) over neighbours
    without normalisation and self-loops, which "gcn-edges" has. "gcn" does not read edge features. Without `ffn` and
    `batch_norm`, "gcn" is the GCN of Tönshoff et al. 2023 (arXiv:2309.00367). Returns [graphs or nodes, outputs].
    """

    version = 2
    as_published: ClassVar[Mapping[str, Any]] = {"convolution": "edge-sum"}

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 4,
        convolution: Convolution = "gcn-edges",
        dropout: DropoutRate = 0.0,
        activation: Activation = "relu",
        residual: bool = True,
        batch_norm: bool = True,
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
        def conv() -> nn.Module:
            return (
                GCNConvolution(width) if convolution == "gcn" else EdgeGCN(width, normalize=convolution != "edge-sum")
            )

        blocks: list[nn.Module] = [
            PlusBlock(
                conv(),
                width,
                activation=activation,
                outer=activation,
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
            node_features=node_features,
            position_width=position_width,
            readout=readout,
            head=head,
            head_layers=head_layers,
            head_l2=head_l2,
        )
