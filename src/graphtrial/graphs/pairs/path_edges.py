"""The edges on the shortest paths between all pairs of nodes of each graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.distances import host_distances
from graphtrial.graphs.pairs.layout import PairBucket, host_layout
from graphtrial.graphs.transfer import to_device

CELLS = 1 << 16
CHUNK = 1 << 22
"""Maximum number of (edge, pair) candidates per chunk."""


@dataclass(frozen=True)
class PathEdges:
    """The edge `edge` is the `hop`-th one of a fraction `weight` of the shortest paths of the pair `pair`.

    [entries] each; hops count from 0, pairs are those of `pair_layout`.
    """

    pair: Tensor
    hop: Tensor
    edge: Tensor
    weight: Tensor

    def to(self, device: torch.device) -> PathEdges:
        """Copy to a device, with weights in 32 bits, because mps has no others."""
        if device.type == "cpu":
            return self
        tensors = self.pair, self.hop, self.edge, self.weight.float()
        return PathEdges(*(to_device(tensor, device) for tensor in tensors))


def path_edges(graph: GraphBatch, hops: int) -> PathEdges:
    """Return the first `hops` edges of all shortest paths of a batch; cached.

    Where a pair has several shortest paths, each has the same weight, which does not depend on the order of the nodes.
    Parallel edges are different paths. Computed on the host, as the distances are.
    """
    return graph.cached(f"path edges {hops}", lambda: _path_edges(graph, hops).to(graph.device))


def _path_edges(graph: GraphBatch, hops: int) -> PathEdges:
    layout, distance = host_layout(graph), host_distances(graph)
    adjacency = layout.adjacency().double()
    ids = torch.arange(layout.count, device=distance.device)
    cell_of = torch.empty_like(ids)
    parts: list[tuple[Tensor, ...]] = []
    for bucket in layout.buckets(CELLS):
        steps = bucket.matrices(distance + 1) - 1  # padding is out of reach
        count = _path_counts(bucket, bucket.matrices(adjacency), steps)
        pair = bucket.matrices(ids)
        cells = cell_of.fill_(-1).index_copy_(0, bucket.pairs, bucket.cells)[layout.edges]
        edges = torch.nonzero(cells >= 0).flatten()
        owner = cells[edges] // bucket.size**2
        u, v = cells[edges] // bucket.size % bucket.size, cells[edges] % bucket.size
        for e, i, j in _on_paths(steps, owner, u, v, hops):
            g = owner[e]
            weight = count[g, i, u[e]] * count[g, v[e], j] / count[g, i, j]
            parts.append((pair[g, i, j], steps[g, i, u[e]], edges[e], weight))
    pair, hop, edge = (torch.cat([ids[:0], *(part[at] for part in parts)]) for at in range(3))
    return PathEdges(pair, hop, edge, torch.cat([adjacency[:0], *(part[3] for part in parts)]))


def _path_counts(bucket: PairBucket, links: Tensor, steps: Tensor) -> Tensor:
    """Return the number of shortest paths of all pairs, [graphs, size, size]."""
    front = torch.eye(bucket.size, dtype=links.dtype, device=links.device).expand_as(links)
    count = front.clone()
    for step in range(1, int(steps.max()) + 1):
        front = torch.bmm(front, links).masked_fill_(steps != step, 0.0)
        count += front
    return count


def _on_paths(steps: Tensor, owner: Tensor, u: Tensor, v: Tensor, hops: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield edge, start i and end j of every edge u -> v among the first `hops` edges of a shortest path."""
    chunk = max(1, CHUNK // steps.shape[1] ** 2)
    for first in range(0, len(owner), chunk):
        part = slice(first, first + chunk)
        before, after = steps[owner[part], :, u[part]], steps[owner[part], v[part], :]
        length = before.unsqueeze(2) + 1 + after.unsqueeze(1)
        reached = ((before >= 0) & (before < hops)).unsqueeze(2) & (after >= 0).unsqueeze(1)
        e, i, j = ((length == steps[owner[part]]) & reached).nonzero(as_tuple=True)
        yield e + first, i, j
