"""Bucketing by size: graphs of a batch padded to dense tensors, for models on node pairs and for attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from graphtrial.core.lazy import lazy_property
from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.transfer import to_device

PART_PAIRS, MAX_PARTS = 1200, 16
"""Pairs of a part of a bucket, at least, and the number of parts, at most."""


@dataclass(frozen=True)
class Bucket:
    """Graphs of a batch, each padded to `size` nodes.

    States are tensors [channels, graphs, size, size], channels first: a linear layer over channels is one matrix
    product, and a matrix product per channel one `bmm`, both without a copy. sizes [graphs]: numbers of nodes without
    padding; start: offset of the bucket's first pair among all padded pairs of the batch; is_full: there is no padding,
    None where the sizes tell.
    """

    size: int
    sizes: Tensor
    start: int
    is_full: bool | None = None

    @property
    def graphs(self) -> int:
        """The number of graphs."""
        return len(self.sizes)

    @property
    def pairs(self) -> int:
        """The number of pairs, padding included."""
        return self.graphs * self.size * self.size

    @lazy_property
    def parts(self) -> tuple[Bucket, ...]:
        """The same graphs as smaller buckets, which threads share; their offsets are within this one."""
        count = max(1, min(MAX_PARTS, self.graphs, self.pairs // PART_PAIRS))
        bounds = [self.graphs * at // count for at in range(count + 1)]
        area = self.size * self.size
        return tuple(Bucket(self.size, self.sizes[a:b], a * area) for a, b in pairwise(bounds))

    @lazy_property
    def present(self) -> Tensor | None:
        """Node mask without padding, [graphs, size]; None where there is no padding."""
        if self.is_full if self.is_full is not None else bool((self.sizes == self.size).all()):
            return None
        return torch.arange(self.size, device=self.sizes.device) < self.sizes.unsqueeze(1)

    def off_diagonal_mask(self, dtype: torch.dtype) -> Tensor:
        """Return the additive mask of off-diagonal pairs: 0 for these, -inf elsewhere, [graphs or 1, size, size]."""
        counted = ~torch.eye(self.size, dtype=torch.bool, device=self.sizes.device).unsqueeze(0)
        if self.present is not None:
            counted = counted & self.present.unsqueeze(2) & self.present.unsqueeze(1)
        return torch.where(counted, 0.0, -torch.inf).to(dtype)

    def pair_mask(self, dtype: torch.dtype) -> Tensor | None:
        """Return the pair mask, 1 for pairs and 0 for padding, [graphs, size, size]; None without padding."""
        if self.present is None:
            return None
        return (self.present.unsqueeze(2) & self.present.unsqueeze(1)).to(dtype)

    def node_rows(self, state: Tensor) -> Tensor:
        """Remove the padding of node states, [channels, graphs, size] -> [nodes, channels]."""
        rows = state.flatten(1).t()
        return rows if self.present is None else rows[self.present.flatten()]


@dataclass(frozen=True)
class Plan:
    """Buckets of a batch, and the positions of its graphs and nodes in them.

    graph_place [graphs], node_place [nodes]: positions in bucket order, without padding. pair_base, pair_stride
    [graphs]: offset of the first padded pair of each graph, and its row stride. name: cache key of the division.
    """

    name: str
    buckets: tuple[Bucket, ...]
    graph_place: Tensor
    node_place: Tensor
    pair_base: Tensor
    pair_stride: Tensor

    def to(self, device: torch.device) -> Plan:
        """Copy the plan to a device; it is built on the host, where the sizes of graphs are known."""
        buckets = tuple(replace(bucket, sizes=to_device(bucket.sizes, device)) for bucket in self.buckets)
        places = self.graph_place, self.node_place, self.pair_base, self.pair_stride
        return Plan(self.name, buckets, *(to_device(place, device) for place in places))


def bucket_plan(graph: GraphBatch, max_pairs: int, padding_cost: int) -> Plan:
    """Return the buckets of a batch, cached.

    No bucket has more than `max_pairs` pairs unless it is a single graph. Sizes share a bucket where that adds at most
    `padding_cost` padded pairs, the overhead of another bucket.
    """
    name = f"dense {max_pairs} {padding_cost}"
    return graph.cached(name, lambda: host_plan(graph, max_pairs, padding_cost).to(graph.device))


def host_plan(graph: GraphBatch, max_pairs: int, padding_cost: int) -> Plan:
    """Return the same in the memory of the host, not cached."""
    return _plan(f"dense {max_pairs} {padding_cost}", graph.host_ptr.diff(), max_pairs, padding_cost)


def _plan(name: str, sizes: Tensor, max_pairs: int, padding_cost: int) -> Plan:
    order = torch.argsort(sizes, stable=True)
    ordered = sizes.index_select(0, order)
    ends = _divide(ordered.tolist(), max_pairs, padding_cost)
    buckets, base, stride, start, begin = [], [], [], 0, 0
    for end in ends:
        part = ordered[begin:end]
        size = max(1, int(part[-1]))
        bucket = Bucket(size, part, start, bool((part == size).all()))
        base.append(start + torch.arange(len(part), device=sizes.device) * size * size)
        stride.append(torch.full_like(part, size))
        buckets.append(bucket)
        start, begin = start + bucket.pairs, end
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    first = torch.zeros_like(sizes)
    first[order] = ordered.cumsum(0) - ordered
    nodes = torch.repeat_interleave(first - (sizes.cumsum(0) - sizes), sizes)
    node_place = nodes + torch.arange(len(nodes), device=nodes.device)
    empty = torch.empty(0, dtype=torch.int64, device=sizes.device)
    return Plan(
        name,
        tuple(buckets),
        place,
        node_place,
        torch.cat([empty, *base]).index_select(0, place),
        torch.cat([empty, *stride]).index_select(0, place),
    )


def _divide(sizes: list[int], max_pairs: int, padding_cost: int) -> list[int]:
    """Return the ends of buckets of ascending sizes: merge similar sizes, split what exceeds `max_pairs` evenly."""
    runs: list[list[int]] = []
    for size in sizes:
        size = max(1, size)
        if runs and (size**2 - runs[-1][-1] ** 2) * len(runs[-1]) <= padding_cost:
            runs[-1].append(size)
        else:
            runs.append([size])
    ends, begin = [], 0
    for run in runs:
        fitting = max(1, max_pairs // run[-1] ** 2)
        parts = -(-len(run) // fitting)
        ends += [begin + len(run) * part // parts for part in range(1, parts + 1)]
        begin += len(run)
    return ends
