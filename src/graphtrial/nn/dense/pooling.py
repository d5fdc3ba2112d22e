"""DiffPool: differentiable pooling by soft cluster assignment."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate

TINY = 1e-15


class Pooled(NamedTuple):
    """Clusters in place of nodes: x [graphs, clusters, width], adjacency [graphs, clusters, clusters], two losses."""

    x: Tensor
    adjacency: Tensor
    link_loss: Tensor
    entropy: Tensor


def diffpool(graph: GraphBatch, x: Tensor, assignment: Tensor) -> Pooled:
    r"""Pool a batch by soft assignments, Ying et al. 2018 (arXiv:1806.08804).

    .. math::
        X' = S^T X, \quad A' = S^T A S, \quad
        \mathrm{link} = \|A - S S^T\|_F / n^2, \quad
        \mathrm{entropy} = \tfrac1n \sum_i \sum_c - s_{ic} \log s_{ic}

    per graph, the link loss averaged over graphs, the entropy over nodes. No n x n matrix is materialised: its norm
    follows from the edges and from S^T S. x: [nodes, width], assignment S: [nodes, clusters], with rows that sum to 1.
    """
    sizes = graph.ptr.diff()
    max_nodes = graph.cached("diffpool most", lambda: max(1, int(graph.host_ptr.diff().max())) if len(sizes) else 1)
    place = graph.cached("diffpool place", lambda: _place(graph, max_nodes))

    def apart(rows: Tensor) -> Tensor:
        zeros = rows.new_zeros(graph.num_graphs * max_nodes, rows.shape[1])
        return zeros.index_copy(0, place, rows).view(graph.num_graphs, max_nodes, -1)

    weights, reached = apart(assignment), apart(aggregate(graph, assignment, "sum"))
    transposed = weights.transpose(1, 2)
    pooled = torch.bmm(reached.transpose(1, 2), weights)
    met = torch.bmm(transposed, weights)
    links = graph.cached(f"diffpool links {x.dtype}", lambda: _squared_links(graph, x.dtype))
    squared = links - 2 * pooled.diagonal(dim1=1, dim2=2).sum(1) + met.square().sum((1, 2))
    link_loss = (squared.clamp(min=0) + TINY).sqrt() / sizes.clamp(min=1).to(x.dtype).square()
    entropy = -(assignment * (assignment + TINY).log()).sum() / max(1, len(assignment))
    return Pooled(torch.bmm(transposed, apart(x)), pooled, link_loss.mean(), entropy)


def _place(graph: GraphBatch, max_nodes: int) -> Tensor:
    """Return the row of each node in a tensor padded to `max_nodes` rows per graph."""
    first = torch.arange(graph.num_graphs, device=graph.batch.device) * max_nodes - graph.ptr[:-1]
    return first.index_select(0, graph.batch) + torch.arange(graph.num_nodes, device=graph.batch.device)


def _squared_links(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    """Return the sum of A_ij^2 over each graph; parallel edges, which stand side by side, add up to one entry."""
    pairs, counts = torch.unique_consecutive(graph.edge_index, dim=1, return_counts=True)
    owner = graph.batch.index_select(0, pairs[0])
    zeros = torch.zeros(graph.num_graphs, dtype=dtype, device=owner.device)
    return zeros.index_add(0, owner, counts.square().to(dtype))
