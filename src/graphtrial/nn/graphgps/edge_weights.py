"""Unnormalised attention weights of edges with edge states, as in SAN and Exphormer."""

from __future__ import annotations

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import edge_dot

CLAMP = 5.0


def edge_weights(graph: GraphBatch, query: Tensor, key: Tensor, edge: Tensor, heads: int) -> Tensor:
    r"""Return :math:`\exp(\mathrm{clamp}(\sum q_i k_j e_{ji} / \sqrt{d}, \pm 5))` for each edge j -> i and head.

    query, key: [nodes, width]; edge: [edges, width], or [1, width] for all edges, which needs no tensor of edges x
    width -> [edges, heads].
    """
    size = query.shape[1] // heads
    query = query * size**-0.5
    if len(edge) == 1:
        scores = edge_dot(graph, (query * edge).view(-1, heads, size), key.view(-1, heads, size))
    else:
        source, target = graph.edge_index
        product = query.index_select(0, target) * key.index_select(0, source) * edge
        scores = product.view(-1, heads, size).sum(dim=2)
    return scores.clamp(-CLAMP, CLAMP).exp()
