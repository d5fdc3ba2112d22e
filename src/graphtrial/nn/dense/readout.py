"""From pairs of nodes to vectors of graphs and of nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.nn.dense.buckets import Bucket
from graphtrial.nn.dense.entries import Entries


def graph_sum(h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return the sum over all pairs of each graph: [channels, graphs, size, size], padding 0 -> [graphs, channels]."""
    return (h.node_sums(h.target, h.values).sum(2) if isinstance(h, Entries) else h.sum((2, 3))).t()


def node_sum(h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return for each node j the sum of h_ij over all i, that is, of what comes in.

    [channels, graphs, size, size], whatever its padding -> [nodes, channels].
    """
    if isinstance(h, Entries):
        return bucket.node_rows(h.node_sums(h.target, h.values))
    if bucket.present is not None:
        h = h * bucket.present.to(h.dtype).unsqueeze(2)
    return bucket.node_rows(h.sum(2))


def diagonal_and_rest_maximum(h: Tensor, bucket: Bucket) -> Tensor:
    """Return the maximum over the diagonal, then that over all other pairs; 0 where a graph has none.

    [channels, graphs, size, size] -> [graphs, 2 * channels].
    """
    diagonal = h.diagonal(dim1=2, dim2=3)
    if bucket.present is not None:
        diagonal = torch.where(bucket.present, diagonal, -torch.inf)
    outside = torch.zeros_like(bucket.off_diagonal, dtype=h.dtype).masked_fill_(~bucket.off_diagonal, -torch.inf)
    highest = diagonal.max(2).values, (h + outside).flatten(2).max(2).values
    both = torch.cat(highest).t()
    return torch.where(both == -torch.inf, 0.0, both)
