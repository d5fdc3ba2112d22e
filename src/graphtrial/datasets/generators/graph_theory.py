"""Small graphs of ten families with six properties to predict, after Corso et al. 2020."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.progress import progress
from graphtrial.datasets.generators import properties
from graphtrial.datasets.generators.families import HUNG, PLAIN, SHARES, PythonDraws
from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
KEEP = 0.9
NODE_TARGETS = "distance from the source, eccentricity, Laplacian of the value; each divided by its training maximum"
GRAPH_TARGETS = "is connected, diameter, spectral radius; each divided by its training maximum"


@dataclass(frozen=True)
class Quirks:
    """What the published data does unlike its description.

    `triangular`: edges are kept and added by the sum of two random numbers, which is near 0 or 1 less often than one,
    so that 98 instead of 90 percent are kept. `bipartite`: a connected bipartite graph counts as not connected.
    """

    triangular: bool
    bipartite: bool


SOUND = Quirks(triangular=False, bipartite=False)
AS_PUBLISHED = Quirks(triangular=True, bipartite=True)


@dataclass(frozen=True)
class Drawn:
    """One graph: its adjacency matrix, a value for each node and the node from which distances are asked for."""

    joined: Array
    value: Array
    source: int


def graph_theory_graphs(parts: Sequence[Sequence[tuple[int, int]]], seed: int, quirks: Quirks) -> GraphSet:
    """Return the graphs of all parts, of which the first is trained on; a part says how many nodes how often.

    Seeds are used up one by one, also by a graph with an isolated node, which is drawn again from the same family. x:
    1 for the source, and the value; node_y and y: three targets each.
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
                    drawn, seed = _without_isolated(nodes, seed, quirks)
                    graphs.append(drawn)
                    advance()
                if graphs:
                    tables.append(_measured(graphs, quirks))
    return _assembled(tables, training)


def draw(nodes: int, seed: int, family: str | None, quirks: Quirks) -> tuple[Drawn, str]:
    """Return the graph of a seed and its family, which is drawn too where none is given."""
    shared, values = PythonDraws(seed), np.random.RandomState(seed)
    if family is None:
        family = list(SHARES)[int(values.choice(len(SHARES), 1, p=list(SHARES.values()))[0])]
    if family in HUNG:
        values = np.random.RandomState(seed)
        links = HUNG[family](nodes, values)
    else:
        links = PLAIN[family](nodes, seed, shared)
    plain = np.zeros((nodes, nodes), bool)
    ends = np.array(links, np.int64).reshape(-1, 2).T
    plain[ends[0], ends[1]] = plain[ends[1], ends[0]] = True
    order = shared.shuffled(nodes)
    value = values.uniform(0.0, 1.0, nodes)
    joined = _changed(plain[np.ix_(order, order)], values.uniform(0.0, 0.5, (nodes, nodes)), quirks)
    return Drawn(joined, value, int(values.randint(0, nodes))), family


def _changed(joined: Array, drawn: Array, quirks: Quirks) -> Array:
    """Take away some edges and add about as many others."""
    nodes = len(joined)
    edges = joined.sum() / 2
    others = nodes * (nodes - 1) / 2 - edges
    few = edges <= others
    keep = KEEP if few else KEEP + (1 - KEEP) * (edges - others) / edges
    add = (1 - KEEP) * edges / others if few else 1 - KEEP
    upper = np.triu(drawn, 1)
    chance = drawn + drawn.T if quirks.triangular else 2 * (upper + upper.T)
    changed: Array = np.where(joined, chance < keep, chance < add) & ~np.eye(nodes, dtype=bool)
    return changed


def _without_isolated(nodes: int, seed: int, quirks: Quirks) -> tuple[Drawn, int]:
    drawn, family = draw(nodes, seed + 1, None, quirks)
    seed += 1
    while not drawn.joined.any(axis=0).all():
        seed += 1
        drawn, _ = draw(nodes, seed, family, quirks)
    return drawn, seed


def _measured(graphs: list[Drawn], quirks: Quirks) -> dict[str, Array]:
    joined = np.stack([graph.joined for graph in graphs])
    value = np.stack([graph.value for graph in graphs])
    source = np.array([graph.source for graph in graphs])
    distance = properties.distances(joined)
    connected = properties.is_connected(distance)
    if quirks.bipartite:
        connected &= properties.has_odd_cycle(joined, distance)
    from_source = np.maximum(distance[np.arange(len(graphs)), source], 0)
    of_nodes = (from_source, properties.eccentricity(distance), properties.laplacian_features(joined, value))
    of_graphs = (connected, properties.diameter(distance), properties.spectral_radius(joined))
    told = np.arange(joined.shape[1]) == source[:, None]
    graph, start, end = np.nonzero(joined)
    return {
        "nodes": np.full(len(graphs), joined.shape[1]),
        "edges": np.bincount(graph, minlength=len(graphs)),
        "ends": np.stack([start, end]).T,
        "x": np.stack([told, value], axis=2).astype(np.float32).reshape(-1, 2),
        "node_y": np.stack(of_nodes, axis=2).astype(np.float32).reshape(-1, len(of_nodes)),
        "y": np.stack(of_graphs, axis=1).astype(np.float32),
    }


def _assembled(tables: list[dict[str, Array]], training: int) -> GraphSet:
    whole = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    rows = {"node_y": int(whole["nodes"][:training].sum()), "y": training}
    scaled = {name: whole[name] / whole[name][:count].max(axis=0) for name, count in rows.items()}
    columns = {
        "x": Column(whole["x"], "node", "1 for the source, and a random value"),
        "node_y": Column(scaled["node_y"], "node", NODE_TARGETS),
        "y": Column(scaled["y"], "graph", GRAPH_TARGETS),
    }
    return GraphSet.build(whole["nodes"], whole["edges"], whole["ends"].T, columns)
