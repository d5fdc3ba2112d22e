"""Stochastic block models (SBM): PATTERN and CLUSTER."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.arguments import PositiveInt, Probability
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.progress import progress
from graphtrial.core.signatures import check_fields
from graphtrial.datasets.generators.draws import Draws, threshold
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.storage import narrow

Array = npt.NDArray[Any]
CHUNK_PAIRS = 4_000_000
SIZES, ORDER, FEATURE, EDGES, PATTERN = range(5)
"""Indices of the random streams."""


@dataclass(frozen=True)
class BlockModel:
    """Stochastic block model: edge probability p within and q between communities of uniform size."""

    communities: PositiveInt
    p: Probability
    q: Probability
    smallest: PositiveInt = 5
    largest: PositiveInt = 34

    def __post_init__(self) -> None:
        check_fields(self, "a block model")
        if self.smallest > self.largest:
            raise GraphTrialError(
                f"the smallest community must not be above the largest; {self.smallest} to {self.largest} nodes "
                "were given"
            )
        if self.communities * self.largest > 10_000:
            raise GraphTrialError("a graph of a block model may have at most 10,000 nodes")

    def sizes(self, graphs: int, draws: Draws) -> npt.NDArray[np.int64]:
        """Sample community sizes [graphs, communities]."""
        return self.smallest + draws.below(np.full((graphs, self.communities), self.largest - self.smallest + 1))

    def likely(self, blocks: int) -> npt.NDArray[np.uint64]:
        """Return the edge thresholds [blocks, blocks], see `threshold`."""
        table = np.full((blocks, blocks), threshold(self.q), np.uint64)
        np.fill_diagonal(table, threshold(self.p))
        return table


def cluster_graphs(model: BlockModel, graphs: int, seed: int) -> GraphSet:
    """CLUSTER: one labelled seed node per community; predict the community of every node.

    x: community + 1 for the seed node of each community, else 0; y: the community.
    """
    sizes = model.sizes(graphs, Draws(seed, SIZES))
    counts = sizes.sum(axis=1)
    block = np.repeat(np.tile(np.arange(model.communities), graphs), sizes.ravel())
    block = block[Draws(seed, ORDER).permutations(counts)]
    community = np.repeat(np.arange(graphs), counts) * model.communities + block
    members = np.argsort(community, kind="stable")  # nodes sorted by community
    first = np.cumsum(sizes.ravel()) - sizes.ravel()
    seeds = members[first + Draws(seed, FEATURE).below(sizes.ravel())]
    x = np.zeros(len(block), np.min_scalar_type(model.communities))
    x[seeds] = block[seeds] + 1
    columns = {
        "x": Column(x, "node", "community + 1 of one node each, else 0", types=model.communities + 1),
        "y": Column(block.astype(x.dtype), "node", "community", types=model.communities),
    }
    return _sample_edges(counts, block, model.likely(model.communities), seed, columns)


def pattern_graphs(
    model: BlockModel,
    sizes: Sequence[int],
    seed: int,
    *,
    patterns: int = 100,
    inside: float = 0.5,
    outside: float = 0.5,
    signals: int = 3,
    nodes: int | None = None,
) -> GraphSet:
    """PATTERN: node classification of an embedded pattern against the communities.

    Each of `patterns` patterns is an Erdos-Renyi graph with edge probability `inside` and a random node signal, sampled
    once; it has `nodes` nodes, or a random community size. Each split, whose `sizes` are given, contains all patterns
    equally often; pattern nodes are connected to all others with probability `outside`. x: the signal; y: 1 for
    pattern nodes; pattern: index of the pattern in the graph.
    """
    if patterns < 1 or not 1 <= signals <= 256:
        raise GraphTrialError(f"{patterns} patterns with {signals} signals were given; at least 1 of each is required")
    if nodes is not None and not 1 <= nodes <= model.largest:
        raise GraphTrialError(f"a pattern may have 1 to {model.largest} nodes here, as a community has, not {nodes}")
    fixed, fixed_signal, fixed_sizes = _patterns(model, patterns, inside, signals, Draws(seed, PATTERN))
    if nodes is not None:
        fixed_sizes = np.full_like(fixed_sizes, nodes)
    which = np.concatenate([np.arange(size) * patterns // size for size in sizes if size])
    graphs, blocks = len(which), model.communities + 1
    members = np.concatenate([model.sizes(graphs, Draws(seed, SIZES)), fixed_sizes[which, None]], axis=1)
    counts = members.sum(axis=1)
    order = Draws(seed, ORDER).permutations(counts)
    block = np.repeat(np.tile(np.arange(blocks), graphs), members.ravel())[order]
    last = np.repeat(np.cumsum(counts), counts)
    rank = np.repeat(members[:, -1], counts) - last + order  # pattern nodes are last before the shuffle
    own = block == model.communities
    rank[~own] = -1
    x = Draws(seed, FEATURE).below(np.full(len(block), signals)).astype(np.uint8)
    x[own] = fixed_signal[np.repeat(which, counts)[own], rank[own]]
    likely = model.likely(blocks)
    likely[-1] = likely[:, -1] = threshold(outside)
    columns = {
        "x": Column(x, "node", "signal", types=signals),
        "y": Column(own.astype(np.uint8), "node", "1 for the nodes of the pattern", types=2),
        "pattern": Column(which.astype(np.min_scalar_type(patterns)), "graph", "which pattern", types=patterns),
    }
    return _sample_edges(counts, block, likely, seed, columns, rank, fixed, which)


def _patterns(
    model: BlockModel, patterns: int, inside: float, signals: int, draws: Draws
) -> tuple[Array, Array, Array]:
    sizes = model.smallest + draws.below(np.full(patterns, model.largest - model.smallest + 1))
    bits = draws.raw(patterns * model.largest**2).reshape(patterns, model.largest, model.largest) >> np.uint64(32)
    upper = np.triu(bits < np.uint64(threshold(inside)), 1)
    signal = draws.below(np.full((patterns, model.largest), signals)).astype(np.uint8)
    return (upper | upper.transpose(0, 2, 1)).astype(np.uint8), signal, sizes


def _sample_edges(
    counts: Array,
    block: Array,
    likely: Array,
    seed: int,
    columns: dict[str, Column],
    rank: Array | None = None,
    fixed: Array | None = None,
    fixed_of: Array | None = None,
) -> GraphSet:
    from graphtrial.datasets.generators.sbm_edges import draw_edges  # numba takes a moment to import

    graphs, nodes = len(counts), len(block)
    rank = np.full(nodes, -1) if rank is None else rank
    fixed = np.zeros((1, 1, 1), np.uint8) if fixed is None else fixed
    fixed_of = np.zeros(graphs, np.int64) if fixed_of is None else fixed_of
    largest = int(counts.max(initial=1))
    number, place = np.min_scalar_type(largest - 1), np.min_scalar_type(largest * (largest - 1))
    node_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    pairs = counts * (counts - 1) // 2
    draws = Draws(seed, EDGES)
    degree, edge_counts = np.empty(nodes, number), np.empty(graphs, np.int64)
    chunks: list[tuple[Array, Array]] = []
    with progress("drawing graphs", graphs) as advance:
        for start, stop in _chunks(pairs):
            total = int(pairs[start:stop].sum())
            ends, out_order = np.empty((2, 2 * total), number), np.empty(2 * total, place)
            edges = draw_edges(
                node_ptr[start : stop + 1] - node_ptr[start],
                block[node_ptr[start] : node_ptr[stop]],
                likely,
                rank[node_ptr[start] : node_ptr[stop]],
                fixed,
                fixed_of[start:stop],
                draws.raw(int(((pairs[start:stop] + 1) // 2).sum())),
                ends,
                out_order,
                degree[node_ptr[start] : node_ptr[stop]],
                edge_counts[start:stop],
            )
            chunks.append((ends[:, :edges].copy(), out_order[:edges].copy()))
            advance(stop - start)
    structure = {
        "node_ptr": narrow(node_ptr),
        "edge_ptr": narrow(np.concatenate([np.zeros(1, np.int64), np.cumsum(edge_counts)])),
        "edge_index": np.concatenate([ends for ends, _ in chunks], axis=1),
        "in_degree": degree,
        "out_degree": degree,
        "out_order": np.concatenate([order for _, order in chunks]),
    }
    return GraphSet(structure, columns)


def _chunks(pairs: Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of graphs with about `CHUNK_PAIRS` node pairs each, to bound memory."""
    part = np.cumsum(pairs) // CHUNK_PAIRS
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(pairs)]
    yield from itertools.pairwise(bounds)
