"""Shortest-path distances between the nodes of a graph."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.layout import PairLayout, host_layout
from graphtrial.graphs.transfer import to_device

UNREACHABLE = -1
CELLS = 1 << 22


def shortest_path_distances(graph: GraphBatch) -> Tensor:
    """Return the number of edges on a shortest path from i to j, [pairs], -1 without a path; cached.

    Pairs are ordered as in `pair_layout`. The spatial encoding of Graphormer (arXiv:2106.05234) embeds them. They are
    computed on the host: each step of the search depends on whether the one before reached anything.
    """
    return graph.cached("shortest-path distances", lambda: to_device(host_distances(graph), graph.device))


def host_distances(graph: GraphBatch) -> Tensor:
    """Return the same in the memory of the host."""
    return graph.cached("host shortest-path distances", lambda: _distances(host_layout(graph)))


def _distances(layout: PairLayout) -> Tensor:
    out = torch.empty(layout.count, dtype=torch.int64, device=layout.ptr.device)
    adjacency = (layout.adjacency() > 0).float()
    for bucket in layout.buckets(CELLS):
        links = bucket.matrices(adjacency)
        front = torch.eye(bucket.size, dtype=links.dtype, device=links.device).expand_as(links)
        distance = torch.where(front > 0, 0, UNREACHABLE)
        for step in range(1, bucket.size):
            reached = (torch.bmm(front, links) > 0) & (distance == UNREACHABLE)
            if not bool(reached.any()):
                break
            distance = distance.masked_fill(reached, step)
            front = reached.float()
        out[bucket.pairs] = distance.reshape(-1)[bucket.cells]
    return out
