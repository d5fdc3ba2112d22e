"""Graph-theory multi-task generator of Corso et al. 2020: ten graph families, six target properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.progress import progress
from graphtrial.datasets.generators import properties
from graphtrial.datasets.generators.families import FREQUENCIES, NUMPY_FAMILIES, PYTHON_FAMILIES, PythonRandom
from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
KEEP = 0.9
"""Probability of retaining an edge."""
NODE_TARGETS = "distance from the source, eccentricity, Laplacian of the value; each divided by its training maximum"
GRAPH_TARGETS = "is connected, diameter, spectral radius; each divided by its training maximum"


@dataclass(frozen=True)
class Quirks:
    """Errors of the published data with respect to its description.

    `triangular`: edges are rewired by a triangular instead of a uniform random number, so that 98 instead of 90 percent
    are retained. `bipartite`: a connected bipartite graph is labelled as not connected.
    """

    triangular: bool
    bipartite: bool


CORRECTED = Quirks(triangular=False, bipartite=False)
AS_PUBLISHED = Quirks(triangular=True, bipartite=True)


@dataclass(frozen=True)
class SampledGraph:
    """Sampled graph: adjacency matrix, node values and source node of the distances."""

    adjacency: Array
    value: Array
    source: int


def graph_theory_graphs(parts: Sequence[Sequence[tuple[int, int]]], seed: int, quirks: Quirks) -> GraphSet:
    """Generate the graphs of all parts, each a list of (nodes, count); the first part is the training set.

    Seeds are consecutive; a graph with isolated nodes is resampled from the same family with the next seed. x: source
    indicator and node value; node_y and y: three targets each, scaled by their training maximum.
    """
    if any(nodes < 3 or count < 0 for part in parts for nodes, count in part):
        raise GraphTrialError("a graph of these families needs 3 nodes at least")
    total = sum(count for part in parts for _, count in part)
    tables, training = [], sum(count for _, count in parts[0])
    with progress("drawing graphs", total) as advance:
        for part in parts:
            for nodes, count in part:
                graphs = []
                for _ in range(count):
                    graph, seed = _sample_without_isolated(nodes, seed, quirks)
                    graphs.append(graph)
                    advance()
                if graphs:
                    tables.append(_properties(graphs, quirks))
    return _build(tables, training)


def draw(nodes: int, seed: int, family: str | None, quirks: Quirks) -> tuple[SampledGraph, str]:
    """Sample a graph and its family, which is random if None."""
    shared, values = PythonRandom(seed), np.random.RandomState(seed)
    if family is None:
        family = list(FREQUENCIES)[int(values.choice(len(FREQUENCIES), 1, p=list(FREQUENCIES.values()))[0])]
    if family in NUMPY_FAMILIES:
        values = np.random.RandomState(seed)
        links = NUMPY_FAMILIES[family](nodes, values)
    else:
        links = PYTHON_FAMILIES[family](nodes, seed, shared)
    plain = np.zeros((nodes, nodes), bool)
    ends = np.array(links, np.int64).reshape(-1, 2).T
    plain[ends[0], ends[1]] = plain[ends[1], ends[0]] = True
    order = shared.shuffled(nodes)
    value = values.uniform(0.0, 1.0, nodes)
    adjacency = _rewire(plain[np.ix_(order, order)], values.uniform(0.0, 0.5, (nodes, nodes)), quirks)
    return SampledGraph(adjacency, value, int(values.randint(0, nodes))), family


def _rewire(adjacency: Array, noise: Array, quirks: Quirks) -> Array:
    """Randomly remove edges and add about as many others."""
    nodes = len(adjacency)
    edges = adjacency.sum() / 2
    others = nodes * (nodes - 1) / 2 - edges
    sparse = edges <= others
    keep = KEEP if sparse else KEEP + (1 - KEEP) * (edges - others) / edges
    add = (1 - KEEP) * edges / others if sparse else 1 - KEEP
    upper = np.triu(noise, 1)
    uniform = noise + noise.T if quirks.triangular else 2 * (upper + upper.T)
    changed: Array = np.where(adjacency, uniform < keep, uniform < add) & ~np.eye(nodes, dtype=bool)
    return changed


def _sample_without_isolated(nodes: int, seed: int, quirks: Quirks) -> tuple[SampledGraph, int]:
    sample, family = draw(nodes, seed + 1, None, quirks)
    seed += 1
    while not sample.adjacency.any(axis=0).all():
        seed += 1
        sample, _ = draw(nodes, seed, family, quirks)
    return sample, seed


def _properties(graphs: list[SampledGraph], quirks: Quirks) -> dict[str, Array]:
    adjacency = np.stack([graph.adjacency for graph in graphs])
    value = np.stack([graph.value for graph in graphs])
    source = np.array([graph.source for graph in graphs])
    distance = properties.distances(adjacency)
    connected = properties.is_connected(distance)
    if quirks.bipartite:
        connected &= properties.has_odd_cycle(adjacency, distance)
    from_source = np.maximum(distance[np.arange(len(graphs)), source], 0)
    of_nodes = (from_source, properties.eccentricity(distance), properties.laplacian_features(adjacency, value))
    of_graphs = (connected, properties.diameter(distance), properties.spectral_radius(adjacency))
    is_source = np.arange(adjacency.shape[1]) == source[:, None]
    graph, start, end = np.nonzero(adjacency)
    return {
        "nodes": np.full(len(graphs), adjacency.shape[1]),
        "edges": np.bincount(graph, minlength=len(graphs)),
        "ends": np.stack([start, end]).T,
        "x": np.stack([is_source, value], axis=2).astype(np.float32).reshape(-1, 2),
        "node_y": np.stack(of_nodes, axis=2).astype(np.float32).reshape(-1, len(of_nodes)),
        "y": np.stack(of_graphs, axis=1).astype(np.float32),
    }


def _build(tables: list[dict[str, Array]], training: int) -> GraphSet:
    whole = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    rows = {"node_y": int(whole["nodes"][:training].sum()), "y": training}
    scaled = {name: whole[name] / whole[name][:count].max(axis=0) for name, count in rows.items()}
    columns = {
        "x": Column(whole["x"], "node", "1 for the source, and a random value"),
        "node_y": Column(scaled["node_y"], "node", NODE_TARGETS),
        "y": Column(scaled["y"], "graph", GRAPH_TARGETS),
    }
    return GraphSet.build(whole["nodes"], whole["edges"], whole["ends"].T, columns)
