"""GAT from raw features to logits, without encoder and head."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.conv.gat import gat_attention
from graphtrial.nn.layers import FeatureLinear, Linear
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
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

    Without encoder and head: the first layer reads the raw features, hidden layers have `heads` heads of total width
    `width` and ELU, the last layer has one head of `outputs` logits. `dropout` acts on the input of each layer and on
    the attention weights; `self_loops` adds self-loops. Returns [nodes, outputs], or for graph tasks their mean over
    each graph, [graphs, outputs].
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
        head_sizes = [*[(heads, width // heads)] * (layers - 1), (1, shapes.outputs)]
        self.layers = nn.ModuleList(
            Attention(size, *head_size, features=i == 0)
            for i, (size, head_size) in enumerate(zip(sizes, head_sizes, strict=True))
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        looped = add_remaining_self_loops(graph) if self.self_loops else graph
        x = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        dropout = self.dropout if self.training else 0.0
        for i, layer in enumerate(self.layers):
            x = layer(looped, F.elu(x) if i else x, dropout).flatten(1)
        return pool(graph, x, "mean") if self.shapes.level == "graph" else x
