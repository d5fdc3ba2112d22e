"""Attention with clamped exponentials beside library calls: the logits of edges with and without states."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import clamped_attention
from graphtrial.ops.sparse_matrix import adjacency

HEADS, BOUND = 4, 5.0


def clamped_cases(
    graph: GraphBatch, width: int
) -> Iterator[tuple[str, Callable[..., Tensor], Callable[..., Tensor], tuple[Tensor, ...], bool]]:
    """Yield name, our operator, the library calls, the inputs, and that there is a twin without vectors."""
    matrix, (sender, receiver) = adjacency(graph), graph.edge_index
    shape = HEADS, 2 * (width // 8)
    nodes = tuple(torch.randn(graph.num_nodes, *shape) for _ in range(3))

    def ours(query: Tensor, key: Tensor, value: Tensor, edge: Tensor | None = None) -> Tensor:
        return _mean(*clamped_attention(matrix, query, key, value, BOUND, edge))

    def library(query: Tensor, key: Tensor, value: Tensor, edge: Tensor | None = None) -> Tensor:
        product = query.index_select(0, receiver) * key.index_select(0, sender)
        logits = (product if edge is None else product * edge).sum(2, keepdim=True)
        weight = logits.clamp(-BOUND, BOUND).exp()
        out = torch.zeros_like(value).index_add(0, receiver, weight * value.index_select(0, sender))
        return _mean(out, value.new_zeros(len(value), HEADS).index_add(0, receiver, weight.squeeze(2)))

    yield "clamped attention (gather, index_add)", ours, library, nodes, True
    edge = torch.randn(graph.num_edges, *shape)
    yield "clamped attention with edge states (gather, index_add)", ours, library, (*nodes, edge), True


def _mean(out: Tensor, norm: Tensor) -> Tensor:
    return out / (norm + 1e-6).unsqueeze(2)
