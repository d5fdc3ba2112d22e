"""Shortest paths between all pairs of nodes of each graph, and the edges on them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.buckets import bucket_plan
from graphtrial.graphs.pairs.complete import pair_index

MAX_PAIRS = 1 << 16
PADDING_COST = 4096
CHUNK = 1 << 22
"""Numbers of (edge, pair) tested at once."""


@dataclass(frozen=True)
class ShortestPaths:
    """Distances of all ordered pairs (i, j), in the order of `complete_graph`, and the edges on their shortest paths.

    distance [pairs]: length of the shortest path from i to j, -1 where there is none. An entry says that the edge
    `edge` is the `hop`-th one of a fraction `weight` of the shortest paths of the pair `pair`; hops count from 0.
    """

    distance: Tensor
    pair: Tensor
    hop: Tensor
    edge: Tensor
    weight: Tensor


def shortest_paths(graph: GraphBatch, hops: int) -> ShortestPaths:
    """Return all shortest paths of a batch with their first `hops` edges; cached.

    Where there are several shortest paths, each is counted with the same weight, which does not depend on the order of
    the nodes. Parallel edges are different paths.
    """
    return graph.cached(f"shortest paths {hops}", lambda: _shortest_paths(graph, hops))


def _shortest_paths(graph: GraphBatch, hops: int) -> ShortestPaths:
    plan = bucket_plan(graph, MAX_PAIRS, PADDING_COST)
    device = graph.edge_index.device
    pairs = int(graph.ptr.diff().square().sum())
    distance = torch.full((pairs,), -1, dtype=torch.int64, device=device)
    node_of = torch.argsort(plan.node_place)
    bucket_of_graph = torch.repeat_interleave(
        torch.arange(len(plan.buckets), device=device),
        torch.tensor([bucket.graphs for bucket in plan.buckets], dtype=torch.int64, device=device),
    )
    local = torch.arange(graph.num_nodes, device=device) - graph.ptr[graph.batch]
    source, target = graph.edge_index
    place = plan.graph_place[graph.batch[source]]
    entries: list[tuple[Tensor, ...]] = []
    first_graph = first_node = 0
    for at, bucket in enumerate(plan.buckets):
        edges = (bucket_of_graph[place] == at).nonzero().flatten()
        owner = place[edges] - first_graph
        u, v = local[source[edges]], local[target[edges]]
        steps, count = _distances(owner, u, v, bucket.graphs, bucket.size)
        nodes = node_of[first_node : first_node + int(bucket.sizes.sum())]
        present = torch.arange(bucket.size, device=device) < bucket.sizes.unsqueeze(1)
        rows = torch.zeros(bucket.graphs, bucket.size, dtype=torch.int64, device=device)
        rows[present] = nodes
        real = present.unsqueeze(2) & present.unsqueeze(1)
        index = torch.zeros(real.shape, dtype=torch.int64, device=device)
        if len(nodes):
            start, end = (part.expand(real.shape)[real] for part in (rows.unsqueeze(2), rows.unsqueeze(1)))
            index[real] = pair_index(graph, start, end)
        distance[index[real]] = steps[real]
        entries += [
            (index[g, i, j], steps[g, i, u[e]], edges[e], count[g, i, u[e]] * count[g, v[e], j] / count[g, i, j])
            for g, i, j, e in _path_edges(steps, owner, u, v, hops)
        ]
        first_graph += bucket.graphs
        first_node += len(nodes)
    empty = distance[:0]
    pair, hop, edge = (torch.cat([empty, *(entry[at] for entry in entries)]) for at in range(3))
    weight = torch.cat([empty.double(), *(entry[3] for entry in entries)])
    return ShortestPaths(distance, pair, hop, edge, weight)


def _distances(owner: Tensor, u: Tensor, v: Tensor, graphs: int, size: int) -> tuple[Tensor, Tensor]:
    """Return distance and number of shortest paths of all pairs, [graphs, size, size]; breadth first, by products."""
    adjacency = torch.zeros(graphs, size, size, dtype=torch.float64, device=owner.device)
    adjacency.index_put_((owner, u, v), torch.ones_like(owner, dtype=torch.float64), accumulate=True)
    frontier = torch.eye(size, dtype=torch.float64, device=owner.device).expand(graphs, -1, -1)
    steps = torch.full(adjacency.shape, -1, dtype=torch.int64, device=owner.device)
    steps[frontier > 0] = 0
    count, depth = frontier.clone(), 0
    while bool(frontier.any()):
        depth += 1
        frontier = torch.bmm(frontier, adjacency).masked_fill_(steps >= 0, 0.0)
        steps[frontier > 0] = depth
        count += frontier
    return steps, count


def _path_edges(
    steps: Tensor, owner: Tensor, u: Tensor, v: Tensor, hops: int
) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Return graph, start i, end j and edge of every edge on a shortest path among its first `hops` edges."""
    found = []
    chunk = max(1, CHUNK // (steps.shape[1] * steps.shape[2]))
    for first in range(0, len(owner), chunk):
        part = slice(first, first + chunk)
        before, after = steps[owner[part], :, u[part]], steps[owner[part], v[part], :]
        length = before.unsqueeze(2) + 1 + after.unsqueeze(1)
        fits = (length == steps[owner[part]]) & (before >= 0).unsqueeze(2) & (after >= 0).unsqueeze(1)
        e, i, j = (fits & (before < hops).unsqueeze(2)).nonzero(as_tuple=True)
        found.append((owner[part][e], i, j, e + first))
    return found
