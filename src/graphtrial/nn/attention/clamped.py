"""Attention along edges with clamped exponentials, as in GT and SAN."""

from __future__ import annotations

import math

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate, aggregate_messages, edge_dot

CLAMP = 5.0
EPS = 1e-6


def dot_scores(graph: GraphBatch, query: Tensor, key: Tensor) -> Tensor:
    """Return the scaled dot products of each edge and head. query, key: [nodes, heads, size] -> [edges, heads]."""
    return edge_dot(graph, query / math.sqrt(query.shape[2]), key)


def channel_scores(graph: GraphBatch, query: Tensor, key: Tensor, edge: Tensor) -> Tensor:
    """Return the scaled products of each channel, before their sum. edge: [edges, heads, size] -> the same shape."""
    source, target = graph.edge_index
    products = key.index_select(0, source) * query.index_select(0, target)
    return products / math.sqrt(query.shape[2]) * edge


def clamped_exponential(scores: Tensor) -> Tensor:
    """Return the exponentials of scores clamped to [-5, 5], the released substitute for a softmax."""
    return scores.clamp(-CLAMP, CLAMP).exp()


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
    return clamped_exponential(scores)


def weighted_mean(graph: GraphBatch, weight: Tensor, value: Tensor, eps: float = EPS) -> Tensor:
    r"""Return :math:`\sum_j w_{ji} v_j / (\sum_j w_{ji} + \epsilon)` over the in-edges of each node and head.

    weight: [edges, heads], positive; value: [nodes, heads, size] -> [nodes, heads * size]; 0 without in-edges.
    """
    total = aggregate_messages(graph, weight) + eps
    if not eps:
        total = total.masked_fill(graph.in_degree.unsqueeze(1) == 0, 1.0)
    return (aggregate(graph, value, "sum", weight) / total.unsqueeze(2)).flatten(1)
