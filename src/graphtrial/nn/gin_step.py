"""GIN and GINE convolution with any MLP, and the base class of TUDataset's models of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.raw_features import (
    raw_edge_features,
    raw_edge_width,
    raw_node_features,
    raw_node_width,
    require_level,
)
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, relu_sum


class GINStep(nn.Module):
    r"""GIN, Xu et al. 2019 (arXiv:1810.00826), or, with an edge encoder, GINE, Hu et al. 2020 (arXiv:1905.12265).

    .. math::
        h_i' = \mathrm{MLP}\big((1 + \epsilon) h_i + \sum_{j \to i} h_j\big)
        \quad \text{or} \quad
        \mathrm{MLP}\big((1 + \epsilon) h_i + \sum_{j \to i} \mathrm{ReLU}(h_j + \mathrm{enc}(f_{ji}))\big)

    Without `learn_epsilon`, epsilon is 0. x: [nodes, in], f: [edges, edge features], or one row for all edges ->
    [nodes, out].
    """

    def __init__(self, mlp: nn.Module, encoder: nn.Module | None = None, *, learn_epsilon: bool = True) -> None:
        super().__init__()
        self.mlp = mlp
        self.encoder = encoder
        self.epsilon = nn.Parameter(torch.zeros(())) if learn_epsilon else None

    def forward(self, graph: GraphBatch, x: Tensor, f: Tensor | None) -> Tensor:
        if self.encoder is None:
            self_weight = x.new_ones(()) if self.epsilon is None else 1 + self.epsilon
            summed = aggregate(graph, x, "sum", self_weight=self_weight)
        elif self.epsilon is None:
            summed = relu_sum(graph, x, self.encoder(f), add_self=True)
        else:
            summed = (1 + self.epsilon) * x + relu_sum(graph, x, self.encoder(f))
        out: Tensor = self.mlp(summed)
        return out


class GINStack(nn.Module):
    """Base class of graph-level models of stacked `GINStep`s on raw features, as in TUDataset (arXiv:2007.08663).

    `step(in_width, edge_width)` builds a layer from `in_width` to `width`. Without `edge_features` edge features are
    constant; with None the steps have no edge encoder. `jumping` concatenates the outputs of all layers (jumping
    knowledge), so that node states have `state_width` channels.
    """

    levels: ClassVar[tuple[str, ...]] = ("graph",)

    def __init__(
        self,
        name: str,
        shapes: Shapes,
        width: int,
        layers: int,
        step: Callable[[int, int], GINStep],
        *,
        jumping: bool,
        edge_features: bool | None,
    ) -> None:
        super().__init__()
        require_level(name, shapes, self.levels)
        self.shapes = shapes
        self.jumping = jumping
        self.edge_features = edge_features
        self.state_width = width * (layers if jumping else 1)
        edge_width = 0 if edge_features is None else raw_edge_width(shapes, use_features=edge_features)
        inputs = [raw_node_width(shapes), *[width] * (layers - 1)]
        self.steps = nn.ModuleList(step(in_width, edge_width) for in_width in inputs)

    def node_states(self, graph: GraphBatch) -> Tensor:
        """Return the node states [nodes, state_width] that the readout takes."""
        dtype = next(self.parameters()).dtype
        x, f = raw_node_features(graph, self.shapes, dtype), None
        if self.edge_features is not None:
            f = raw_edge_features(graph, self.shapes, dtype, use_features=self.edge_features)
        states = []
        for layer, step in enumerate(self.steps):
            x = self.activate(step(graph, x, f), layer)
            states.append(x)
        return torch.cat(states, dim=1) if self.jumping else x

    def activate(self, x: Tensor, layer: int) -> Tensor:
        """Return the output of a layer after activation and normalisation; by default its MLP ends with them."""
        return x
