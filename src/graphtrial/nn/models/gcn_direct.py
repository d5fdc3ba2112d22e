"""GCN from raw features to logits, without encoder and head."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, dropout, feature_linear, linear, symmetric_weight


class Propagation(nn.Module):
    r"""One graph convolution of any width, :math:`h_i' = \sum_{j \to i} W h_j / \sqrt{d_j d_i} + b`.

    x: [nodes, inputs] -> [nodes, outputs].
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, graph: GraphBatch, x: Tensor, *, features: bool = False) -> Tensor:
        """Propagate x; `features` marks it as input features, which may be sparse (see `ops.feature_linear`)."""
        weight = symmetric_weight(graph, x.dtype)
        if x.shape[1] < self.weight.shape[0]:  # aggregation costs more than the product: use the smaller width
            return linear(aggregate(graph, x, "sum", weight), self.weight, self.bias)
        product = feature_linear(x, self.weight) if features else linear(x, self.weight)
        return aggregate(graph, product, "sum", weight) + self.bias


@MODELS.register("gcn-direct", title="GCN (direct)")
class DirectGCN(nn.Module):
    r"""The network of Kipf and Welling 2017 (arXiv:1609.02907), as Wiki-CS has it: `layers` graph convolutions.

    .. math:: Z = \hat A \, \mathrm{drop}(\mathrm{ReLU}(\hat A X W_1 + b_1)) \, W_2 + b_2

    Without encoder and head: the first convolution reads the raw features, the last one returns the logits. `dropout`
    acts between convolutions and not on the features; `self_loops` adds self-loops. Returns [nodes, outputs], or for
    graph tasks their mean over each graph, [graphs, outputs].
    """

    levels = ("graph", "node")

    def __init__(
        self, shapes: Shapes, width: int, layers: int = 2, dropout: float = 0.0, self_loops: bool = True
    ) -> None:
        super().__init__()
        require_level("gcn-direct", shapes, self.levels)
        self.shapes = shapes
        self.dropout = dropout
        self.self_loops = self_loops
        sizes = [raw_node_width(shapes), *[width] * (layers - 1), shapes.outputs]
        self.convs = nn.ModuleList(Propagation(*pair) for pair in pairwise(sizes))

    def forward(self, graph: GraphBatch) -> Tensor:
        looped = add_remaining_self_loops(graph) if self.self_loops else graph
        x = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        x = self.convs[0](looped, x, features=True)
        for conv in self.convs[1:]:
            x = conv(looped, dropout(x.relu(), self.dropout, self.training))
        return pool(graph, x, "mean") if self.shapes.level == "graph" else x
