"""Graphs of similar size side by side: how a batch is divided for models on node pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch


@dataclass(frozen=True)
class Bucket:
    """Some graphs of a batch, each padded to `size` nodes.

    A state of the bucket is a tensor [channels, graphs, size, size], channels first: a map of channels is then one
    matrix product over all pairs of all graphs, and a product of matrices channel by channel is one batched product,
    both without moving a number. `sizes` are the true numbers of nodes; `start` is the place of the bucket's first pair
    among the padded pairs of the whole batch.
    """

    size: int
    sizes: Tensor
    start: int

    @property
    def graphs(self) -> int:
        """The number of graphs."""
        return len(self.sizes)

    @property
    def pairs(self) -> int:
        """The number of pairs, padding included."""
        return self.graphs * self.size * self.size

    @cached_property
    def present(self) -> Tensor | None:
        """Which of the `size` nodes of each graph exist, [graphs, size]; nothing where all do."""
        if bool((self.sizes == self.size).all()):
            return None
        return torch.arange(self.size, device=self.sizes.device) < self.sizes.unsqueeze(1)

    def minus_infinity(self, dtype: torch.dtype) -> Tensor:
        """Return 0 for pairs of two different existing nodes, -inf for all others, [graphs or 1, size, size]."""
        counted = ~torch.eye(self.size, dtype=torch.bool, device=self.sizes.device).unsqueeze(0)
        if self.present is not None:
            counted = counted & self.present.unsqueeze(2) & self.present.unsqueeze(1)
        return torch.where(counted, 0.0, -torch.inf).to(dtype)

    def pair_mask(self, dtype: torch.dtype) -> Tensor | None:
        """Return 1 for pairs of existing nodes and 0 for padding, [graphs, size, size]; nothing where all exist."""
        if self.present is None:
            return None
        return (self.present.unsqueeze(2) & self.present.unsqueeze(1)).to(dtype)

    def node_rows(self, state: Tensor) -> Tensor:
        """Return the vectors of the existing nodes, [channels, graphs, size] -> [nodes, channels]."""
        rows = state.flatten(1).t()
        return rows if self.present is None else rows[self.present.flatten()]


@dataclass(frozen=True)
class Plan:
    """How a batch is divided: its buckets, and where the graphs and nodes of the batch are found in them.

    `graph_place[g]` and `node_place[v]` are positions among all graphs and existing nodes in bucket order. `pair_base`
    and `pair_stride` give each graph's first pair among all padded pairs and the length of its rows. `name` tells one
    division of a batch from another.
    """

    name: str
    buckets: tuple[Bucket, ...]
    graph_place: Tensor
    node_place: Tensor
    pair_base: Tensor
    pair_stride: Tensor


def plan_of(graph: GraphBatch, most_pairs: int, worth: int) -> Plan:
    """Return the division of a batch, made once.

    No bucket has more than `most_pairs` pairs unless it is a single graph. Sizes share a bucket where that adds at most
    `worth` padded pairs, which is what the calls for another bucket would cost.
    """
    name = f"dense {most_pairs} {worth}"
    return graph.cached(name, lambda: _plan(name, graph.ptr.diff(), most_pairs, worth))


def _plan(name: str, sizes: Tensor, most_pairs: int, worth: int) -> Plan:
    order = torch.argsort(sizes, stable=True)
    ordered = sizes.index_select(0, order)
    ends = _divide(ordered.tolist(), most_pairs, worth)
    buckets, base, stride, start, begin = [], [], [], 0, 0
    for end in ends:
        part = ordered[begin:end]
        size = max(1, int(part[-1]))
        bucket = Bucket(size, part, start)
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


def _divide(sizes: list[int], most_pairs: int, worth: int) -> list[int]:
    """Return the ends of the buckets of ascending sizes: neighbours together, then what is too much in equal parts."""
    runs: list[list[int]] = []
    for size in sizes:
        size = max(1, size)
        if runs and (size**2 - runs[-1][-1] ** 2) * len(runs[-1]) <= worth:
            runs[-1].append(size)
        else:
            runs.append([size])
    ends, begin = [], 0
    for run in runs:
        fitting = max(1, most_pairs // run[-1] ** 2)
        parts = -(-len(run) // fitting)
        ends += [begin + len(run) * part // parts for part in range(1, parts + 1)]
        begin += len(run)
    return ends
