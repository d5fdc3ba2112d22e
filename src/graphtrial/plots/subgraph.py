"""Subgraph of a graph set for plotting: one graph, or a neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import GraphSet

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Subgraph:
    """Induced subgraph: rows of its nodes and edges in the set, and `ends` [2, edges] as local node indices."""

    graphs: GraphSet
    graph: int
    nodes: Array
    edges: Array
    ends: Array

    def column(self, name: str) -> Array | None:
        """Return the values of a column for this subgraph, or None where there is no such column."""
        column = self.graphs.columns.get(name)
        if column is None or column.level == "pair":
            return None
        rows = {"node": self.nodes, "edge": self.edges, "graph": np.array([self.graph])}[column.level]
        return np.asarray(column.values[rows])


def whole(graphs: GraphSet, graph: int) -> Subgraph:
    """Return one graph of a set as a subgraph."""
    nodes = np.arange(graphs.node_ptr[graph], graphs.node_ptr[graph + 1])
    edges = np.arange(graphs.edge_ptr[graph], graphs.edge_ptr[graph + 1])
    return Subgraph(graphs, graph, nodes, edges, np.asarray(graphs.edge_index[:, edges], np.int64))


def neighbourhood(graphs: GraphSet, graph: int, node: int, most: int) -> Subgraph:
    """Return the subgraph induced by the `most` nodes nearest to `node` (local index), in breadth-first order.

    A ring of the search that does not fit is subsampled evenly.
    """
    full = whole(graphs, graph)
    count = len(full.nodes)
    seen = np.zeros(count, bool)
    seen[node] = True
    chosen, ring = [np.array([node])], np.array([node])
    while len(ring) and (room := most - sum(map(len, chosen))) > 0:
        inside = np.zeros(count, bool)
        inside[ring] = True
        source, target = full.ends
        ring = np.unique(np.concatenate([source[inside[target]], target[inside[source]]]))
        ring = ring[~seen[ring]]
        if len(ring) > room:
            ring = ring[np.linspace(0, len(ring) - 1, room).astype(int)]
        seen[ring] = True
        chosen.append(ring)
    taken = np.concatenate(chosen)
    place = np.full(count, -1)
    place[taken] = np.arange(len(taken))
    induced = np.flatnonzero((place[full.ends] >= 0).all(axis=0))
    return Subgraph(graphs, graph, full.nodes[taken], full.edges[induced], place[full.ends[:, induced]])
