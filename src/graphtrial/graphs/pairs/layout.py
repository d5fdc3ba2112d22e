"""All ordered pairs of nodes of each graph of a batch, flat and as dense matrices in buckets of similar sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.memory import available_bytes
from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.transfer import to_device

ALIGNMENT = 8
"""Matrices are padded to a multiple: all start at the same alignment, so that their products are the same bits in
any batch, and similar sizes share a bucket."""
MOST_PAIRS = 1 << 28
BYTES_OF_LAYOUT = 32
"""Memory of a pair in a `PairLayout` and while it is made: its index, graph and position."""
SMALL = 1 << 28
"""Bytes that are not compared with the memory that is free."""


@dataclass(frozen=True)
class PairBucket:
    """Graphs of a batch whose matrices are padded to `size` rows and columns.

    pairs [p]: indices of their pairs among all of the batch; cells [p]: indices of these in the matrices, which are
    [graphs, size, size], flat.
    """

    size: int
    graphs: int
    pairs: Tensor
    cells: Tensor

    def matrices(self, values: Tensor) -> Tensor:
        """Return the matrices of values of all pairs, [pairs] -> [graphs, size, size]; padding is zero."""
        dense = values.new_zeros(self.graphs * self.size * self.size)
        dense[self.cells] = values[self.pairs]
        return dense.view(self.graphs, self.size, self.size)


@dataclass(frozen=True)
class PairLayout:
    """All ordered pairs (i, j) of nodes of the same graph, i = j included: graph by graph, and by i, then j.

    ptr [graphs + 1]: offset of the first pair of each graph. index [2, pairs]: nodes i and j. edges [edges]: the pair
    (source, target) of each edge.
    """

    ptr: Tensor
    index: Tensor
    edges: Tensor
    sizes: Tensor

    def to(self, device: torch.device) -> PairLayout:
        """Copy the layout to a device."""
        if device.type == "cpu":
            return self
        return PairLayout(*(to_device(tensor, device) for tensor in (self.ptr, self.index, self.edges, self.sizes)))

    @property
    def count(self) -> int:
        """The number of pairs."""
        return self.index.shape[1]

    def adjacency(self) -> Tensor:
        """Return the number of edges from i to j, [pairs]."""
        ones = torch.ones(len(self.edges), device=self.edges.device)
        return torch.zeros(self.count, device=self.edges.device).index_add_(0, self.edges, ones)

    def buckets(self, most_cells: int) -> Iterator[PairBucket]:
        """Yield the graphs in buckets of at most `most_cells` cells each, unless a single graph has more."""
        padded = (self.sizes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        for size in padded.unique().tolist():
            if not size:
                continue
            members = torch.nonzero(padded == size).flatten()
            for chunk in members.split(max(1, most_cells // size**2)):
                yield self._bucket(size, chunk)

    def _bucket(self, size: int, members: Tensor) -> PairBucket:
        nodes = self.sizes[members]
        owner, inner = _inner(nodes**2)
        width = nodes[owner]
        cells = (owner * size + inner // width) * size + inner % width
        return PairBucket(size, len(members), self.ptr[members][owner] + inner, cells)


def check_pairs(graph: GraphBatch, bytes_of_pair: int) -> None:
    """Raise an error where a batch has too many pairs, or they do not fit into memory at so many bytes each.

    The memory of another device than the CPU is not known beforehand.
    """
    count = int((graph.host_ptr.diff() ** 2).sum())
    other = "a model without pairs, such as exphormer or gatedgcn"
    advice = f"use {other}" if graph.num_graphs == 1 else f"use a smaller batch size, or {other}"
    if count > MOST_PAIRS:
        raise GraphTrialError(f"these graphs have {count:,} ordered pairs of nodes, more than {MOST_PAIRS:,}: {advice}")
    size = count * bytes_of_pair
    if graph.device.type == "cpu" and size > SMALL and size > (free := available_bytes()):
        raise MemoryError(
            f"{count:,} ordered pairs of nodes take {size / 2**30:,.1f} GiB in this model; "
            f"{free / 2**30:,.1f} GiB are free: {advice}"
        )


def check_attention(graph: GraphBatch, heads: int, layers: int, saved: int) -> None:
    """Raise an error where attention between all pairs of nodes does not fit into memory; see `check_pairs`.

    `saved` is the number of values of a pair and head that each of the layers saves for the backward pass. Beside them
    a layer computes some eight, and indices take 64 bytes of a pair (peak memory of SAN, SAN-LSPE and Graphormer, on
    a graph of 1,500 nodes in training, 1 and 3 layers: 80 to 96 % of this).
    """
    values = 8 + saved * (layers if torch.is_grad_enabled() else 1)
    check_pairs(graph, 64 + 4 * heads * values)


def pair_layout(graph: GraphBatch) -> PairLayout:
    """Return the layout of all ordered pairs of a batch, cached."""
    return graph.cached("pair layout", lambda: host_layout(graph).to(graph.device))


def host_layout(graph: GraphBatch) -> PairLayout:
    """Return the layout in the memory of the host, cached: another device is waited for once, for its edges."""

    def compute() -> PairLayout:
        check_pairs(graph, BYTES_OF_LAYOUT)
        return _layout(graph.host_ptr, graph.edge_index.cpu())

    return graph.cached("host pair layout", compute)


def _layout(node_ptr: Tensor, edge_index: Tensor) -> PairLayout:
    sizes = node_ptr.diff()
    ptr = torch.cat([sizes.new_zeros(1), (sizes**2).cumsum(0)])
    owner, inner = _inner(sizes**2)
    width, first = sizes[owner], node_ptr[owner]
    index = torch.stack([first + inner // width, first + inner % width]) if len(owner) else ptr.new_zeros(2, 0)
    source, target = edge_index
    of_edge = torch.repeat_interleave(torch.arange(len(sizes)), sizes)[source]
    start = node_ptr[of_edge]
    edges = ptr[of_edge] + (source - start) * sizes[of_edge] + (target - start)
    return PairLayout(ptr, index, edges, sizes)


def _inner(counts: Tensor) -> tuple[Tensor, Tensor]:
    """Return group and position within the group of each of sum(counts) items."""
    owner = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    return owner, torch.arange(len(owner), device=counts.device) - (counts.cumsum(0) - counts)[owner]
