"""Layers of directional graph networks without towers."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import graph_norm
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.neighbourhood.aggregators import neighbourhood
from graphtrial.nn.neighbourhood.scalers import add_scaled, degree_scalers
from graphtrial.nn.neighbourhood.towers import TowerLinear


class SimpleAggregation(nn.Module):
    r"""Aggregators and scalers of the neighbours' states themselves, then one linear layer.

    .. math:: h_i' = \sum_s s(d_i) \, V_s \big[\Vert_a \, a_{j \to i}(h_j)\big] + c

    x: [nodes, inputs] -> [nodes, outputs].
    """

    def __init__(
        self, inputs: int, outputs: int, *, aggregators: tuple[str, ...], scalers: tuple[str, ...], delta: float
    ) -> None:
        super().__init__()
        self.delta = delta
        self.aggregators, self.scalers = aggregators, scalers
        width = len(aggregators) * inputs
        self.aggregated = nn.ModuleList(
            TowerLinear(1, width, outputs, fan_in=len(scalers) * width, bias=at == 0) for at in range(len(scalers))
        )

    def forward(
        self, graph: GraphBatch, x: Tensor, e: Tensor | None, directions: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        parts = neighbourhood(graph, x, None, None, self.aggregators, directions, x)
        stacked = torch.cat(parts, dim=1)
        first, *rest = self.aggregated  # of the identity, which always comes first
        factors = degree_scalers(graph, self.scalers, self.delta, x.dtype)
        return add_scaled(first(stacked), (each(stacked) for each in rest), self.scalers[1:], factors[1:])


class DGNLayer(nn.Module):
    r"""Layer of a directional graph network, Beaini et al. 2021 (arXiv:2010.02863), without towers.

    .. math:: h_i' = \mathrm{dropout}\Big(h_i + \mathrm{ReLU}\,\mathrm{BN}\big(
        \mathrm{aggregation}(h, e)_i / \sqrt{n}\big)\Big)

    with n the number of nodes of the graph; without h_i where `inputs` and `outputs` differ.
    x: [nodes, inputs], e: [edges, edge_width] -> [nodes, outputs].
    """

    def __init__(self, aggregation: nn.Module, inputs: int, outputs: int, *, dropout: float, graph_norm: bool) -> None:
        super().__init__()
        self.graph_norm = graph_norm
        self.residual = inputs == outputs
        self.aggregation = aggregation
        self.norm = BatchNorm(outputs, "relu")
        self.dropout = Dropout(dropout)

    def forward(
        self, graph: GraphBatch, x: Tensor, e: Tensor | None, directions: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        new = self.aggregation(graph, x, e, directions)
        if self.graph_norm:
            new = new * graph_norm(graph, "node", x.dtype)
        out: Tensor = self.dropout(self.norm(new, x if self.residual else None))
        return out
