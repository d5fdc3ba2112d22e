"""Graph attention from the features straight to the answers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.conv.gat import gat_attention
from graphtrial.nn.linear import FeatureLinear, Linear
from graphtrial.nn.raw import raw_node_width, raw_nodes, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import dropout as drop

SLOPE = 0.2


class Attention(nn.Module):
    """Attention of any width, heads side by side (see `ops.attention`). x: [nodes, inputs] -> [nodes, heads, width]."""

    def __init__(self, inputs: int, heads: int, width: int, *, features: bool) -> None:
        super().__init__()
        self.linear = (FeatureLinear if features else Linear)(inputs, heads * width, bias=False)
        self.source = nn.Parameter(torch.empty(1, heads, width))
        self.target = nn.Parameter(torch.empty(1, heads, width))
        for weight in (self.linear.weight, self.source, self.target):
            nn.init.xavier_normal_(weight, gain=nn.init.calculate_gain("relu"))

    def forward(self, graph: GraphBatch, x: Tensor, dropout: float) -> Tensor:
        z = self.linear(x, dropout) if isinstance(self.linear, FeatureLinear) else self.linear(drop(x, dropout))
        z = z.view(-1, *self.source.shape[1:])
        return gat_attention(graph, z, self.source[0], self.target[0], SLOPE, dropout)


@MODELS.register("gat-direct", title="GAT (direct)")
class DirectGAT(nn.Module):
    r"""The network of Velickovic et al. 2018 (arXiv:1710.10903), as Wiki-CS has it: `layers` layers of attention.

    There is neither an encoder nor a head: the first layer reads the features, hidden layers have `heads` heads of
    together `width` numbers and ELU, the last one answers with a single head. `dropout` acts on what goes into each
    layer and on the shares of attention; with `self_loops` every node is its own neighbour. Returns [nodes, outputs],
    or for a question about graphs the mean of that over each graph, [graphs, outputs].
    """

    levels = ("graph", "node")
    width_divisor = "heads"

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 2,
        heads: Width = 8,
        dropout: float = 0.0,
        self_loops: bool = True,
    ) -> None:
        super().__init__()
        require_level("gat-direct", shapes, self.levels)
        self.shapes = shapes
        self.dropout = dropout
        self.self_loops = self_loops
        sizes = [raw_node_width(shapes), *[width] * (layers - 1)]
        shares = [*[(heads, width // heads)] * (layers - 1), (1, shapes.outputs)]
        self.layers = nn.ModuleList(
            Attention(size, *share, features=i == 0) for i, (size, share) in enumerate(zip(sizes, shares, strict=True))
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        seen = add_remaining_self_loops(graph) if self.self_loops else graph
        x = raw_nodes(graph, self.shapes, next(self.parameters()).dtype)
        dropout = self.dropout if self.training else 0.0
        for i, layer in enumerate(self.layers):
            x = layer(seen, F.elu(x) if i else x, dropout).flatten(1)
        return pool(graph, x, "mean") if self.shapes.level == "graph" else x
