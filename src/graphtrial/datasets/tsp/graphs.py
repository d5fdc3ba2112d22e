"""k-nearest-neighbour graphs of TSP instances with tour edges as labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
NEIGHBOURS = 25


def tour_graphs(
    instances: Iterable[tuple[Array, Array]], graph_columns: Mapping[str, Column] | None = None
) -> GraphSet:
    """Build a graph for each pair of points [n, 2] and tour [n]; `graph_columns` are additional columns.

    Directed edges from each point to its 25 nearest neighbours in Euclidean distance. x: coordinates; edge_attr:
    distance; y: 1 for tour edges, in either direction. Tour edges outside the 25-NN graph are lost.
    """
    nodes, edges, x, ends, lengths, labels = [], [], [], [], [], []
    for points, tour in instances:
        edge_index, distance, label = _graph(points, tour)
        nodes.append(len(points))
        edges.append(len(label))
        x.append(points.astype(np.float32))
        ends.append(edge_index)
        lengths.append(distance)
        labels.append(label)
    columns = {
        "x": Column(np.concatenate(x), "node", "coordinates in the unit square"),
        "edge_attr": Column(np.concatenate(lengths)[:, None], "edge", "Euclidean distance"),
        "y": Column(np.concatenate(labels), "edge", "1 for an edge of the tour", types=2),
        **(graph_columns or {}),
    }
    return GraphSet.build(nodes, edges, np.concatenate(ends, axis=1), columns)


def _graph(points: Array, tour: Array) -> tuple[Array, Array, Array]:
    n = len(points)
    distance = np.sqrt(np.square(points[:, None, :] - points[None, :, :]).sum(axis=2))
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, : min(NEIGHBOURS, n - 1)]
    in_tour = np.zeros((n, n), np.uint8)
    in_tour[tour, np.roll(tour, -1)] = in_tour[np.roll(tour, -1), tour] = 1
    source, target = np.repeat(np.arange(n), near.shape[1]), near.reshape(-1)
    return np.stack([source, target]), distance[source, target].astype(np.float32), in_tour[source, target]
