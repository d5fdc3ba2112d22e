"""GCN of GraphGym, the baseline of the Long Range Graph Benchmark."""

from __future__ import annotations

from typing import Annotated

from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.graphgps.gcn_convolution import GCNConvolution
from graphtrial.nn.graphgps.head import PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import NodeInput
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.position.encoder import PositionConfig
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import l2_normalize


@MODELS.register("gcn-graphgym", title="GCN (GraphGym)")
class GraphGymGCN(nn.Module):
    """GCN as GraphGym stacks it, for LRGB, Dwivedi et al. 2022 (arXiv:2206.08164).

    Each layer is convolution without bias, batch norm, dropout, ReLU and, with `l2`, L2 normalisation of every node
    state: GraphGym's default, which the configuration does not mention. No skip connections. Returns [graphs or nodes,
    outputs].
    """

    levels = ("graph", "node")

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 5,
        dropout: DropoutRate = 0.0,
        l2: bool = True,
        position_width: Annotated[int, Range(0, 4096)] = 0,
        readout: SumOrMean = "mean",
        head_layers: Depth = 2,
        head_l2: bool = True,
    ) -> None:
        super().__init__()
        require_level("gcn-graphgym", shapes, self.levels)
        self.node_input = NodeInput(shapes, width, PositionConfig(position_width))
        self.convs = nn.ModuleList(GCNConvolution(width, bias=False) for _ in range(layers))
        self.norms = nn.ModuleList(BatchNorm(width) for _ in range(layers))
        self.dropout = Dropout(dropout)
        self.l2 = l2
        self.head = PredictionHead(shapes, width, kind="graphgym", layers=head_layers, l2=head_l2, readout=readout)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_input(graph)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = self.dropout(norm(conv(graph, x))).relu()
            x = l2_normalize(x) if self.l2 else x
        out: Tensor = self.head(graph, x)
        return out
