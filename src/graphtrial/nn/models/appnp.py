"""Predict, then propagate."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, Range, Steps
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.linear import FeatureLinear, Linear
from graphtrial.nn.raw import raw_node_width, raw_nodes, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, dropout, symmetric_weight


@MODELS.register("appnp", title="APPNP")
class APPNP(nn.Module):
    r"""Personalised propagation of neural predictions, Klicpera et al. 2019 (arXiv:1810.05997).

    .. math::
        Z^{(0)} = H = \mathrm{MLP}(X), \qquad
        Z^{(k+1)} = (1 - \alpha) \, \hat D_{in}^{-1/2} \hat A \hat D_{out}^{-1/2} Z^{(k)} + \alpha H

    An MLP with `layers` hidden layers predicts, `steps` steps without weights propagate. `edge_dropout` drops edges
    anew in each step; `dropout` acts on what goes into each map. With `self_loops` every node is its own neighbour.
    Returns [nodes, outputs], or for a question about graphs the mean of that over each graph, [graphs, outputs].
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
        """Return the answers for each node alone, [nodes, outputs]."""
        x = raw_nodes(graph, self.shapes, next(self.parameters()).dtype)
        x = self.maps[0](x, self.dropout if self.training else 0.0)
        for linear in self.maps[1:]:
            x = linear(dropout(x.relu(), self.dropout, self.training))
        return x

    def propagate(self, graph: GraphBatch, start: Tensor) -> Tensor:
        """Return the answers after all steps, [nodes, outputs]."""
        seen = add_remaining_self_loops(graph) if self.self_loops else graph
        weight = symmetric_weight(seen, start.dtype)
        z = start
        for _ in range(self.steps):
            kept = dropout(weight, self.edge_dropout, self.training)
            z = aggregate(seen, z, "sum", kept).lerp(start, self.alpha)
        return z
