"""Graphs of the workloads: ZINC, and synthetic graphs of the sizes of other datasets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphSet

Ids = npt.NDArray[np.int64]
PATTERN_NODES = (90, 146)
PATTERN_DENSITY = 0.42  # fraction of node pairs with an edge
COMMUNITIES = 4
WIKI_NODES, WIKI_EDGES, WIKI_FEATURES = 11_701, 431_726, 300


def graphs_for(workload: str, graphs: int, seed: int = 0, **size: Any) -> tuple[GraphSet, Ids]:
    """Return a set and the ids of `graphs` graphs to train on; at least one more graph is left for validation.

    `size` is passed to the generators of synthetic graphs below.
    """
    if workload == "zinc":
        from graphtrial.datasets import load

        dataset = load("zinc")
        train = np.asarray(dataset.splits[0].train)
        return dataset.graphs, np.random.default_rng(seed).permutation(train)[:graphs]
    if workload == "wiki":
        return wiki_graph(seed=seed, **size), np.arange(1)
    generate = sbm_graphs if workload == "pattern" else molecules
    return generate(graphs + 1, seed=seed, **size), np.arange(graphs)


def prepare(workloads: Iterable[str]) -> None:
    """Prepare ZINC if a workload trains on it, else its first contestant does so and has the peak memory of that."""
    if any("zinc" in name for name in workloads):
        with contextlib.suppress(GraphTrialError):  # contestants say why it is not available
            graphs_for("zinc", 1)


def sbm_graphs(
    count: int, *, seed: int = 0, nodes: tuple[int, int] = PATTERN_NODES, density: float = PATTERN_DENSITY
) -> GraphSet:
    """Stochastic block models of the size of PATTERN: four communities, on average 118 nodes and 5,900 directed edges.

    The edge probability is `density` on average, and up to 1.8 times that within a community.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(nodes[0], nodes[1] + 1, count)
    within = min(1.0, 1.8 * density)
    across = (density - within / COMMUNITIES) / (1 - 1 / COMMUNITIES)
    position = np.arange(nodes[1])
    counts, parts = [], []
    for chunk in np.array_split(sizes, max(1, count // 32)):
        group = rng.integers(0, COMMUNITIES, (len(chunk), nodes[1]))
        prob = np.where(group[:, :, None] == group[:, None, :], within, across)
        mask = position < chunk[:, None]
        adjacency = np.triu(rng.random(prob.shape, np.float32) < prob, 1) & mask[:, :, None] & mask[:, None, :]
        graph, source, target = np.nonzero(adjacency | adjacency.transpose(0, 2, 1))
        counts.append(np.bincount(graph, minlength=len(chunk)))
        parts.append(np.stack([source, target]))
    return _with_columns(sizes, np.concatenate(counts), np.concatenate(parts, axis=1), rng, 3, 1)


def molecules(count: int, *, seed: int = 0, nodes: int = 23) -> GraphSet:
    """Synthetic molecules like ZINC's: trees of low degree with a few rings, about 50 directed edges on 23 nodes."""
    rng = np.random.default_rng(seed)
    std = max(1, nodes // 5)
    sizes = rng.integers(nodes - std, nodes + std + 1, count)
    graph = np.repeat(np.arange(count), sizes)
    place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    child = np.flatnonzero(place > 0)
    parent = place[child] - 1 - (rng.random(len(child)) * np.minimum(place[child], 3)).astype(np.int64)
    closing = np.flatnonzero((place > 5) & (rng.random(len(place)) < 0.16))
    source = np.concatenate([parent, place[closing] - 5, place[child], place[closing]])
    target = np.concatenate([place[child], place[closing], parent, place[closing] - 5])
    owner = graph[np.concatenate([child, closing, child, closing])]
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=count)
    return _with_columns(sizes, counts, np.stack([source, target])[:, order], rng, 28, 4)


def wiki_graph(*, seed: int = 0, shrink: int = 1) -> GraphSet:
    """Generate a graph of Wiki-CS's size with a skewed degree distribution, and a tiny second one for validation.

    `shrink` divides the numbers of nodes and edges.
    """
    rng = np.random.default_rng(seed)
    nodes, half = WIKI_NODES // shrink, WIKI_EDGES // shrink // 2
    weight = rng.permutation(1 / np.arange(1, nodes + 1) ** 0.7)
    prob = weight / weight.sum()
    ends = np.empty((2, 0), np.int64)
    while ends.shape[1] < half:
        drawn = rng.choice(nodes, (2, half), p=prob)
        pairs = np.sort(np.concatenate([ends, drawn[:, drawn[0] != drawn[1]]], axis=1), axis=0)
        ends = rng.permutation(np.unique(pairs, axis=1), axis=1)
    ends = ends[:, :half]
    tiny = np.array([[0, 1], [1, 0]])
    edges = np.concatenate([ends, ends[::-1], tiny], axis=1)
    columns = {
        "x": Column(rng.normal(size=(nodes + 2, WIKI_FEATURES)).astype(np.float32), "node"),
        "y": Column(rng.normal(size=2).astype(np.float32), "graph"),
    }
    return GraphSet.build([nodes, 2], [2 * half, 2], edges, columns)


def _with_columns(
    sizes: Ids, counts: Ids, edges: Ids, rng: np.random.Generator, node_types: int, edge_types: int
) -> GraphSet:
    columns = {
        "x": Column(rng.integers(0, node_types, sizes.sum()), "node", types=node_types),
        "edge_attr": Column(rng.integers(0, edge_types, counts.sum()), "edge", types=edge_types),
        "y": Column(rng.normal(size=len(sizes)).astype(np.float32), "graph"),
    }
    return GraphSet.build(sizes, counts, edges, columns)
