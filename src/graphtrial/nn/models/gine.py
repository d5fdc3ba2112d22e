"""GINE-epsilon of TUDataset."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.models.gin_eps import classifier, two_maps_then_norm
from graphtrial.nn.raw_features import (
    raw_edge_features,
    raw_edge_width,
    raw_node_features,
    raw_node_width,
    require_level,
)
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("gine", title="GINE-ε")
class GINE(nn.Module):
    """The graph isomorphism network with edge features of TUDataset, Morris et al. 2020 (arXiv:2007.08663).

    Every layer encodes the raw edge features, categories one-hot, to the width of what comes in; the first layer reads
    the raw node features. With `jumping` the vectors of all layers are joined before they are pooled (GINE-eps-JK).
    Without `edge_features` all edges are alike. Returns [graphs, outputs].
    """

    levels = ("graph",)

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 3,
        dropout: float = 0.5,
        jumping: bool = False,
        learn_epsilon: bool = True,
        edge_features: bool = True,
    ) -> None:
        super().__init__()
        require_level("gine", shapes, self.levels)
        self.shapes = shapes
        self.jumping = jumping
        self.edge_features = edge_features
        numbers = raw_edge_width(shapes, use_features=edge_features)
        inputs = [raw_node_width(shapes), *[width] * (layers - 1)]
        self.steps = nn.ModuleList(
            GINStep(two_maps_then_norm(size, width), two_maps_then_norm(numbers, size), learn_epsilon=learn_epsilon)
            for size in inputs
        )
        self.head = classifier(width * (layers if jumping else 1), width, shapes.outputs, dropout)

    def forward(self, graph: GraphBatch) -> Tensor:
        dtype = next(self.parameters()).dtype
        x = raw_node_features(graph, self.shapes, dtype)
        f = raw_edge_features(graph, self.shapes, dtype, use_features=self.edge_features)
        states = []
        for step in self.steps:
            x = step(graph, x, f)
            states.append(x)
        out: Tensor = self.head(pool(graph, torch.cat(states, dim=1) if self.jumping else x, "mean"))
        return out
