"""Layer of principal neighbourhood aggregation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import graph_norm
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.neighbourhood.aggregators import neighbourhood
from graphtrial.nn.neighbourhood.scalers import add_scaled, degree_scalers
from graphtrial.nn.neighbourhood.towers import TowerLinear
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import multi_aggregate


class Aggregation(nn.Module):
    r"""Aggregators and scalers of PNA's towers, between two linear layers.

    .. math::
        m_{ji} = A h_j + B h_i + C e_{ji} + b, \qquad
        h_i' = U h_i + \sum_s s(d_i) \, V_s \big[\Vert_a \, a_{j \to i}(m_{ji})\big] + c

    A tower reads its slice of the channels of h, or all of them without `divide`, and gives `outputs` / towers
    channels; its messages have as many as it reads, or `message_width` / towers. `directions` are the edge weights of
    DGN's directional aggregators (see `neighbourhood`). x: [nodes, inputs], e: [edges, edge_width] -> [nodes, outputs].
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        towers: int,
        divide: bool,
        aggregators: tuple[str, ...],
        scalers: tuple[str, ...],
        delta: float,
        edge_width: int,
        message_width: int = 0,
    ) -> None:
        super().__init__()
        self.towers, self.divide, self.delta = towers, divide, delta
        self.aggregators, self.scalers = aggregators, scalers
        seen, out = inputs // towers if divide else inputs, outputs // towers
        width = message_width // towers or seen
        message, update = 2 * seen + edge_width, len(aggregators) * len(scalers) * width + seen
        self.sent = TowerLinear(towers, seen, width, fan_in=message)
        self.own = TowerLinear(towers, seen, width, fan_in=message, bias=False)
        self.edge = TowerLinear(towers, edge_width, width, fan_in=message, bias=False) if edge_width else None
        self.update = TowerLinear(towers, seen, out, fan_in=update)
        self.aggregated = nn.ModuleList(
            TowerLinear(towers, len(aggregators) * width, out, fan_in=update, bias=False) for _ in scalers
        )

    def forward(
        self, graph: GraphBatch, x: Tensor, e: Tensor | None, directions: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        sent, own = self.sent(x), self.own(x)
        edge = self.edge(e) if self.edge is not None and e is not None else None
        if edge is not None and len(edge) != graph.num_edges:
            edge = edge.expand(graph.num_edges, -1)
        if directions:
            parts = neighbourhood(graph, sent, own, edge, self.aggregators, directions, x)
            stacked = torch.cat([part.unflatten(1, (self.towers, -1)) for part in parts], dim=2).flatten(1)
        else:
            stacked = multi_aggregate(graph, sent, own, edge, self.aggregators, self.towers)
        factors = degree_scalers(graph, self.scalers, self.delta, x.dtype)
        return add_scaled(self.update(x), (each(stacked) for each in self.aggregated), self.scalers, factors)


def aggregation_factory(
    shapes: Shapes, *, towers: int, aggregators: str, scalers: str, edge_width: int
) -> Callable[..., Aggregation]:
    """Return a constructor of `Aggregation` for a dataset; names of aggregators and scalers are space-separated."""
    return partial(
        Aggregation,
        towers=towers,
        aggregators=tuple(aggregators.split()),
        scalers=tuple(scalers.split()),
        delta=shapes.mean_log_degree or 1.0,
        edge_width=edge_width,
    )


class PNALayer(nn.Module):
    r"""Layer of principal neighbourhood aggregation with towers, Corso et al. 2020 (arXiv:2004.05718).

    .. math:: h_i' = h_i + \mathrm{LeakyReLU}\Big(M \, \mathrm{dropout}\big(
        \mathrm{BN}(\mathrm{aggregation}(h, e)_i / \sqrt{n})\big)\Big)

    with n the number of nodes of the graph; without h_i where `inputs` and `outputs` differ.
    x: [nodes, inputs], e: [edges, edge_width] -> [nodes, outputs].
    """

    def __init__(
        self, aggregation: Aggregation, inputs: int, outputs: int, *, dropout: float, graph_norm: bool
    ) -> None:
        super().__init__()
        self.graph_norm = graph_norm
        self.residual = inputs == outputs
        self.aggregation = aggregation
        self.norm = BatchNorm(outputs)
        self.dropout = Dropout(dropout)
        self.mixing = TowerLinear(1, outputs, outputs)

    def forward(
        self, graph: GraphBatch, x: Tensor, e: Tensor | None, directions: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        new = self.aggregation(graph, x, e, directions)
        if self.graph_norm:
            new = new * graph_norm(graph, "node", x.dtype)
        new = F.leaky_relu(self.mixing(self.dropout(self.norm(new))))
        return x + new if self.residual else new
