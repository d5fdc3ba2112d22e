"""One graph of a set, or a neighbourhood in it, with what is known of its nodes and edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import GraphSet

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Part:
    """Some nodes of a set, by row, and the edges between them, by row and as ends [2, edges] numbered within."""

    graphs: GraphSet
    graph: int
    nodes: Array
    edges: Array
    ends: Array

    def column(self, name: str) -> Array | None:
        """Return the rows of a column that are about this part, or nothing where there is no such column."""
        column = self.graphs.columns.get(name)
        if column is None or column.level == "pair":
            return None
        rows = {"node": self.nodes, "edge": self.edges, "graph": np.array([self.graph])}[column.level]
        return np.asarray(column.values[rows])


def whole(graphs: GraphSet, graph: int) -> Part:
    """Return one graph of a set."""
    nodes = np.arange(graphs.node_ptr[graph], graphs.node_ptr[graph + 1])
    edges = np.arange(graphs.edge_ptr[graph], graphs.edge_ptr[graph + 1])
    return Part(graphs, graph, nodes, edges, np.asarray(graphs.edge_index[:, edges], np.int64))


def around(graphs: GraphSet, graph: int, node: int, most: int) -> Part:
    """Return the nodes nearest to `node` (numbered within its graph), at most `most`, and all edges between them.

    Nodes come in rings; of a ring that does not fit as a whole, every so-manyth is taken.
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
    kept = np.flatnonzero((place[full.ends] >= 0).all(axis=0))
    return Part(graphs, graph, full.nodes[taken], full.edges[kept], place[full.ends[:, kept]])
