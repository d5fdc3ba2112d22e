"""MPNN: message passing with an edge network, GRU update and Set2Set readout."""

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
    r"""Message passing neural network, Gilmer et al. 2017 (arXiv:1704.01212), as in TUDataset.

    .. math::
        h_i^{(0)} = \mathrm{ReLU}(W x_i + b), \quad
        m_i^{(t)} = \mathrm{ReLU}\big(\mathrm{NNConv}(h^{(t)}, f)_i\big), \quad
        h_i^{(t+1)} = \mathrm{GRU}(m_i^{(t)}, h_i^{(t)}), \qquad
        \hat y = \mathrm{MLP}\big(\mathrm{Set2Set}(h^{(T)})\big)

    The `steps` share their weights; `edge_width` is the hidden width of the edge network. Returns [graphs, outputs].
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

    Neighbours are aggregated before the matrices M_k are applied, which takes memory of nodes x edge_width x width
    instead of edges x width x width. x: [nodes, width] -> [nodes, width].
    """

    def __init__(self, width: int, edge_features: int, edge_width: int) -> None:
        super().__init__()
        self.first = nn.Linear(edge_features, edge_width)
        self.second = nn.Linear(edge_width, width * width)
        self.root = nn.Linear(width, width)

    def coefficients(self, f: Tensor) -> Tensor:
        """Return the coefficients c(f) of each edge, [edges, edge_width + 1]."""
        return torch.cat([self.first(f).relu(), f.new_ones(len(f), 1)], dim=1)

    def forward(self, graph: GraphBatch, x: Tensor, coefficients: Tensor) -> Tensor:
        count, width = coefficients.shape[1], x.shape[1]
        pooled = aggregate(graph, x.unsqueeze(1).expand(-1, count, -1), "mean", coefficients)
        matrices = torch.cat([self.second.weight, self.second.bias.unsqueeze(1)], dim=1).view(width, width, count)
        out: Tensor = self.root(x) + pooled.flatten(1) @ matrices.permute(2, 0, 1).reshape(count * width, width)
        return out
