"""Probabilities of random walks between the nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.layout import PairBucket, PairLayout, pair_layout

MOST_NUMBERS = 1 << 31
CELLS = 1 << 22


def pair_walks(graph: GraphBatch, k: int, *, transposed: bool = False, dtype: torch.dtype = torch.float32) -> Tensor:
    r"""Return the relative random-walk probabilities (RRWP) of GRIT, [pairs, k]; cached.

    .. math:: R_{ij} = \big[I_{ij}, P_{ij}, (P^2)_{ij}, \dots, (P^{k-1})_{ij}\big], \quad P = D^{-1} A

    Pairs are ordered as in `pair_layout`. The released code of GRIT (arXiv:2305.17589) gave the pair (i, j), a message
    from i to j, the walk from i to j, and since December 2024 the one from j to i: `transposed`.
    """
    name = f"pair walks {k} {transposed} {dtype}"
    return graph.cached(name, lambda: _pair_walks(pair_layout(graph), k, transposed, dtype))


def edge_walks(graph: GraphBatch, k: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    r"""Return the probabilities of a random walk from source to target of each edge, [edges, k]; cached.

    .. math:: W_{ij} = \big[P_{ij}, (P^2)_{ij}, \dots, (P^k)_{ij}\big], \quad P = D^{-1} A

    They accompany the random-walk encoding of nodes in GNN+ (arXiv:2502.09263).
    """
    return graph.cached(f"edge walks {k} {dtype}", lambda: _edge_walks(pair_layout(graph), k, dtype))


def _pair_walks(layout: PairLayout, k: int, transposed: bool, dtype: torch.dtype) -> Tensor:
    if layout.count * k > MOST_NUMBERS:
        raise GraphTrialError(
            f"{layout.count:,} pairs of nodes with {k} probabilities each do not fit into memory: use "
            f"{'a model without pairs' if len(layout.ptr) == 2 else 'a smaller batch'}"
        )
    out = torch.empty(layout.count, k, dtype=dtype, device=layout.ptr.device)
    for bucket, powers in _powers(layout, k - 1, max(1, CELLS // k), dtype):
        both = torch.stack([power.mT if transposed else power for power in powers], dim=-1)
        out[bucket.pairs] = both.reshape(-1, k)[bucket.cells]
    return out


def _edge_walks(layout: PairLayout, k: int, dtype: torch.dtype) -> Tensor:
    out = torch.empty(len(layout.edges), k, dtype=dtype, device=layout.ptr.device)
    cell_of = torch.full((layout.count,), -1, device=layout.ptr.device)
    for bucket, powers in _powers(layout, k, CELLS, dtype):
        cell_of.fill_(-1)[bucket.pairs] = bucket.cells
        cells = cell_of[layout.edges]
        edges = torch.nonzero(cells >= 0).flatten()
        for step, power in enumerate(powers):
            if step:
                out[edges, step - 1] = power.reshape(-1)[cells[edges]]
    return out


def _powers(
    layout: PairLayout, last: int, most_cells: int, dtype: torch.dtype
) -> Iterator[tuple[PairBucket, Iterator[Tensor]]]:
    """Yield each bucket with the powers 0 to `last` of its transition matrices, [graphs, size, size] each."""
    adjacency = layout.adjacency().to(dtype)
    for bucket in layout.buckets(most_cells):
        yield bucket, _powers_of(bucket.matrices(adjacency), last)


def _powers_of(adjacency: Tensor, last: int) -> Iterator[Tensor]:
    transition = adjacency / adjacency.sum(dim=2, keepdim=True).clamp(min=1)
    power = torch.eye(adjacency.shape[1], dtype=adjacency.dtype, device=adjacency.device).expand_as(adjacency)
    yield power
    for step in range(1, last + 1):
        power = transition if step == 1 else torch.bmm(power, transition)
        yield power
