"""GIN-epsilon of TUDataset."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("gin-eps", title="GIN-ε")
class GINEps(nn.Module):
    """The graph isomorphism network of TUDataset, Morris et al. 2020 (arXiv:2007.08663).

    The first layer reads the raw features, categories one-hot; nothing is added between layers. With `jumping` the
    vectors of all layers are joined before they are pooled (jumping knowledge, GIN-eps-JK); without `learn_epsilon` it
    is GIN-0. Returns [graphs, outputs].
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
        readout: Literal["mean", "sum"] = "mean",
    ) -> None:
        super().__init__()
        require_level("gin-eps", shapes, self.levels)
        self.shapes = shapes
        self.jumping = jumping
        self.readout = readout
        inputs = [raw_node_width(shapes), *[width] * (layers - 1)]
        self.steps = nn.ModuleList(
            GINStep(two_maps_then_norm(in_width, width), learn_epsilon=learn_epsilon) for in_width in inputs
        )
        self.head = classifier(width * (layers if jumping else 1), width, shapes.outputs, dropout)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        states = []
        for step in self.steps:
            x = step(graph, x, None)
            states.append(x)
        pooled = torch.cat(states, dim=1) if self.jumping else x
        out: Tensor = self.head(pool(graph, pooled, self.readout))
        return out


def two_maps_then_norm(in_width: int, width: int) -> nn.Sequential:
    """Return the inner network of TUDataset: two linear maps, each with ReLU, then batch norm."""
    return nn.Sequential(nn.Linear(in_width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), BatchNorm(width))


def classifier(in_width: int, width: int, outputs: int, dropout: float) -> nn.Sequential:
    """Return the head of TUDataset: a linear map with ReLU and dropout, and one to the outputs."""
    return nn.Sequential(nn.Linear(in_width, width), nn.ReLU(), Dropout(dropout), nn.Linear(width, outputs))
