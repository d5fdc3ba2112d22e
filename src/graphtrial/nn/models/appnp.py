"""APPNP: predict, then propagate by personalised PageRank."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, Range, Steps
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.layers import FeatureLinear, Linear
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, dropout, symmetric_weight
from graphtrial.ops.portable import full_precision


@MODELS.register("appnp", title="APPNP")
class APPNP(nn.Module):
    r"""Personalised propagation of neural predictions, Klicpera et al. 2019 (arXiv:1810.05997).

    .. math::
        Z^{(0)} = H = \mathrm{MLP}(X), \qquad
        Z^{(k+1)} = (1 - \alpha) \, \hat D_{in}^{-1/2} \hat A \hat D_{out}^{-1/2} Z^{(k)} + \alpha H

    The MLP has `layers` hidden layers; `steps` propagation steps have no weights. `edge_dropout` samples an edge mask
    per step; `dropout` acts on the input of each linear layer; `self_loops` adds self-loops. Returns [nodes, outputs],
    or for graph tasks their mean over each graph, [graphs, outputs].
    """

    levels = ("graph", "node")

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 1,
        dropout: float = 0.0,
        steps: Steps = 10,
        alpha: Annotated[float, Range(0, 1, above=True)] = 0.1,
        edge_dropout: DropoutRate = 0.0,
        self_loops: bool = True,
    ) -> None:
        super().__init__()
        require_level("appnp", shapes, self.levels)
        self.shapes = shapes
        self.steps = steps
        self.alpha = alpha
        self.dropout = dropout
        self.edge_dropout = edge_dropout
        self.self_loops = self_loops
        sizes = [raw_node_width(shapes), *[width] * layers, shapes.outputs]
        first, *rest = pairwise(sizes)
        self.maps = nn.ModuleList([FeatureLinear(*first), *(Linear(*pair) for pair in rest)])

    def forward(self, graph: GraphBatch) -> Tensor:
        out = self.propagate(graph, self.predict(graph))
        return pool(graph, out, "mean") if self.shapes.level == "graph" else out

    def predict(self, graph: GraphBatch) -> Tensor:
        """Return the logits of the MLP for each node, [nodes, outputs]."""
        x: Tensor = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        x = self.maps[0](x, self.dropout if self.training else 0.0)
        for linear in self.maps[1:]:
            x = linear(dropout(x.relu(), self.dropout, self.training))
        return x

    @full_precision
    def propagate(self, graph: GraphBatch, start: Tensor) -> Tensor:
        """Return the logits after all propagation steps, [nodes, outputs]."""
        looped = add_remaining_self_loops(graph) if self.self_loops else graph
        weight = symmetric_weight(looped, start.dtype)
        z = start
        for _ in range(self.steps):
            weight_dropped = dropout(weight, self.edge_dropout, self.training)
            z = aggregate(looped, z, "sum", weight_dropped).lerp(start, self.alpha)
        return z
