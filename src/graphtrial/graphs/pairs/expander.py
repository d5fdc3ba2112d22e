"""Random regular expander graphs on the nodes of each graph of a batch."""

from __future__ import annotations

from functools import cache
from typing import Literal

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.self_loops import replace_edges

Algorithm = Literal["permutations", "hamiltonian"]
ALL_PAIRS = 10
"""Graphs of at most so many nodes get all pairs of distinct nodes."""
TRIES = 100
SLACK = 0.1


def expander_graph(graph: GraphBatch, degree: int, algorithm: Algorithm, seed: int) -> GraphBatch:
    """Return the batch with the edges of expanders of degree 2 x `degree` instead of its own; cached, without columns.

    Graphs of the same size have the same expander, a function of size, degree, algorithm and seed, in the order of
    their nodes: it does not move with the nodes when these are renumbered.
    """

    def compute() -> GraphBatch:
        sizes, starts = graph.ptr.diff().tolist(), graph.ptr.tolist()
        edges = [_expander(size, degree, algorithm, seed) + starts[at] for at, size in enumerate(sizes)]
        index = torch.cat([torch.zeros(2, 0, dtype=torch.int64), *edges], dim=1).to(graph.edge_index.device)
        return replace_edges(graph, index[0], index[1])[0]

    return graph.cached(f"expander {degree} {algorithm} {seed}", compute)


@cache
def _expander(nodes: int, degree: int, algorithm: Algorithm, seed: int) -> Tensor:
    """Return the edges of an expander, [2, edges]: the first of 100 with the spectral gap, or the one with the largest.

    As in Exphormer (arXiv:2303.06147): each of `degree` random permutations is used in both directions; loops and
    parallel edges stay, as released.
    """
    if nodes <= ALL_PAIRS:
        every = torch.ones(nodes, nodes) - torch.eye(nodes)
        return every.nonzero().t().contiguous()
    generator = torch.Generator().manual_seed(seed * 1_000_003 + nodes)
    wanted = 2 * degree - 2 * (2 * degree - 1) ** 0.5 - SLACK
    best, best_gap = torch.zeros(2, 0, dtype=torch.int64), -1.0
    for _ in range(TRIES):
        edges = torch.cat([_cycles(nodes, algorithm, generator) for _ in range(degree)], dim=1)
        edges = torch.cat([edges, edges.flip(0)], dim=1)
        gap = _spectral_gap(edges, nodes)
        if gap > best_gap:
            best, best_gap = edges, gap
        if best_gap >= wanted:
            break
    return best


def _cycles(nodes: int, algorithm: Algorithm, generator: torch.Generator) -> Tensor:
    order = torch.randperm(nodes, generator=generator)
    if algorithm == "hamiltonian":
        return torch.stack([order, order.roll(-1)])
    return torch.stack([torch.arange(nodes), order])


def _spectral_gap(edges: Tensor, nodes: int) -> float:
    """Return the second smallest eigenvalue of the Laplacian."""
    adjacency = torch.zeros(nodes, nodes, dtype=torch.float64)
    adjacency.index_put_((edges[0], edges[1]), torch.ones(edges.shape[1], dtype=torch.float64), accumulate=True)
    laplacian = adjacency.sum(dim=1).diag() - adjacency
    return float(torch.linalg.eigvalsh(laplacian)[1])
