"""Attention along edges and, with other weights, between all other nodes of a graph."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import complete_graph, pair_index
from graphtrial.nn.attention.clamped import edge_weights, weighted_mean
from graphtrial.nn.layers import Linear


class PairAttention(nn.Module):
    r"""Attention of SAN, Kreuzer et al. 2021 (arXiv:2106.03893), as released.

    .. math::
        w_{ji} = c_{ji} \exp \, \mathrm{clamp}_{\pm 5} \Big(\tfrac{1}{\sqrt{d}}
            \textstyle\sum Q x_i \odot K x_j \odot E e_{ji}\Big), \qquad
        out_i = \frac{\sum_j w_{ji} V x_j}{\sum_j w_{ji} + 10^{-6}}

    per head, without biases. With `full_graph` j goes over all other nodes of the graph: pairs without an edge have
    weights Q', K', E' of their own and the edge vector `other`, and c are the `pair_weights`; otherwise over the
    in-neighbours, with c = 1. x: [nodes, inputs], e: [edges or 1, width], other: [1, width], pair_weights: [pairs of
    `complete_graph`, 1] -> [nodes, width].
    """

    def __init__(self, inputs: int, width: int, heads: int, *, full_graph: bool) -> None:
        super().__init__()
        self.heads = heads
        self.Q, self.K, self.V = (Linear(inputs, width, bias=False) for _ in range(3))
        self.E = Linear(width, width, bias=False)
        self.Q2 = Linear(inputs, width, bias=False) if full_graph else None
        self.K2 = Linear(inputs, width, bias=False) if full_graph else None
        self.E2 = Linear(width, width, bias=False) if full_graph else None

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor, other: Tensor, pair_weights: Tensor | None) -> Tensor:
        value = cast(Tensor, self.V(x).unflatten(1, (self.heads, -1)))
        weights = edge_weights(graph, self.Q(x), self.K(x), self.E(e), self.heads)
        if self.Q2 is None or self.K2 is None or self.E2 is None:
            return weighted_mean(graph, weights, value)
        full = complete_graph(graph)
        others = edge_weights(full, self.Q2(x), self.K2(x), self.E2(other), self.heads)
        others = others * pairs_without_edges(graph, x.dtype)
        pairs = pair_index(graph, graph.edge_index[1], graph.edge_index[0])
        return weighted_mean(full, others.index_add(0, pairs, weights) * cast(Tensor, pair_weights), value)


def gamma_weights(graph: GraphBatch, gamma: Tensor) -> Tensor:
    r"""Return SAN's weights of pairs, :math:`1 / (1 + \gamma)` with an edge, :math:`\gamma / (1 + \gamma)` without."""
    without = pairs_without_edges(graph, gamma.dtype)
    return (without * gamma + (1 - without)) / (1 + gamma)


def pairs_without_edges(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    """Return 1 for pairs of different nodes without an edge, else 0, [pairs of `complete_graph`, 1]; cached."""

    def compute() -> Tensor:
        nodes = torch.arange(graph.num_nodes, device=graph.batch.device)
        without = torch.ones(complete_graph(graph).num_edges, 1, dtype=dtype, device=nodes.device)
        without[pair_index(graph, graph.edge_index[1], graph.edge_index[0])] = 0.0
        without[pair_index(graph, nodes, nodes)] = 0.0
        return without

    return graph.cached(f"pairs without edges {dtype}", compute)
