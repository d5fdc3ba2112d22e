"""GINE-epsilon, as in TUDataset."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.models.gin_eps import classifier, two_layer_mlp
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
    r"""GIN with edge features, Hu et al. 2020 (arXiv:1905.12265), as in TUDataset (arXiv:2007.08663).

    .. math::
        h_i^{(l+1)} = \mathrm{MLP}_l\big((1 + \epsilon_l) h_i^{(l)}
            + \sum_{j \to i} \mathrm{ReLU}(h_j^{(l)} + \mathrm{enc}_l(f_{ji}))\big), \qquad
        \hat y = \mathrm{MLP}\big(\mathrm{mean}_i \, h_i^{(L)}\big)

    h^(0) and f are the raw node and edge features, categories one-hot; enc_l is an MLP to the width of h^(l). `jumping`
    concatenates the outputs of all layers before the readout (GINE-eps-JK). Without `edge_features` f is constant.
    Returns [graphs, outputs].
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
        edge_width = raw_edge_width(shapes, use_features=edge_features)
        inputs = [raw_node_width(shapes), *[width] * (layers - 1)]
        self.steps = nn.ModuleList(
            GINStep(two_layer_mlp(size, width), two_layer_mlp(edge_width, size), learn_epsilon=learn_epsilon)
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
