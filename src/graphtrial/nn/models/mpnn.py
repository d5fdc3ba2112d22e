"""The message-passing network with an edge network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.raw_features import (
    raw_edge_features,
    raw_edge_width,
    raw_node_features,
    raw_node_width,
    require_level,
)
from graphtrial.nn.readout import Set2Set
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate


@MODELS.register("mpnn", title="MPNN")
class MPNN(nn.Module):
    """Edge network, gated recurrent unit and Set2Set, Gilmer et al. 2017 (arXiv:1704.01212), as TUDataset has it.

    Every one of the `steps` uses the same weights; `edge_width` is the inner width of the edge network.
    Returns [graphs, outputs].
    """

    levels = ("graph",)

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        steps: Depth = 3,
        edge_width: Width = 128,
        set2set_steps: Depth = 3,
        edge_features: bool = True,
    ) -> None:
        super().__init__()
        require_level("mpnn", shapes, self.levels)
        self.shapes = shapes
        self.steps = steps
        self.edge_features = edge_features
        self.first = nn.Linear(raw_node_width(shapes), width)
        self.conv = EdgeNetwork(width, raw_edge_width(shapes, use_features=edge_features), edge_width)
        self.gru = nn.GRUCell(width, width)
        self.set2set = Set2Set(width, steps=set2set_steps)
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, shapes.outputs))

    def forward(self, graph: GraphBatch) -> Tensor:
        dtype = next(self.parameters()).dtype
        x = self.first(raw_node_features(graph, self.shapes, dtype)).relu()
        f = raw_edge_features(graph, self.shapes, dtype, use_features=self.edge_features)
        coefficients = self.conv.coefficients(f)
        for _ in range(self.steps):
            x = self.gru(self.conv(graph, x, coefficients).relu(), x)
        out: Tensor = self.head(self.set2set(graph, x))
        return out


class EdgeNetwork(nn.Module):
    r"""Edge-conditioned convolution (PyG's `NNConv`) with mean aggregation and root weight.

    .. math:: h_i' = R h_i + b + \mathrm{mean}_{j \to i} \, M(f_{ji}) h_j, \qquad
        M(f) = \sum_k c_k(f) M_k, \quad c(f) = [\mathrm{ReLU}(V f + v) \,\|\, 1]

    The sum over neighbours is taken before the matrices M_k, so no edge ever has a matrix: instead of
    edges x width x width numbers there are nodes x edge_width x width. x: [nodes, width] -> [nodes, width].
    """

    def __init__(self, width: int, numbers: int, edge_width: int) -> None:
        super().__init__()
        self.first = nn.Linear(numbers, edge_width)
        self.second = nn.Linear(edge_width, width * width)
        self.root = nn.Linear(width, width)

    def coefficients(self, f: Tensor) -> Tensor:
        """Return the weight of each matrix on each edge, [edges, edge_width + 1]."""
        return torch.cat([self.first(f).relu(), f.new_ones(len(f), 1)], dim=1)

    def forward(self, graph: GraphBatch, x: Tensor, coefficients: Tensor) -> Tensor:
        count, width = coefficients.shape[1], x.shape[1]
        pooled = aggregate(graph, x.unsqueeze(1).expand(-1, count, -1), "mean", coefficients)
        matrices = torch.cat([self.second.weight, self.second.bias.unsqueeze(1)], dim=1).view(width, width, count)
        out: Tensor = self.root(x) + pooled.flatten(1) @ matrices.permute(2, 0, 1).reshape(count * width, width)
        return out
