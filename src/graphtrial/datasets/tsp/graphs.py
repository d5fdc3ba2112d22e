"""From points and tours to graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
NEIGHBOURS = 25


def tour_graphs(instances: Iterable[tuple[Array, Array]], of_graphs: Mapping[str, Column] | None = None) -> GraphSet:
    """Return one graph for each pair of points [n, 2] and tour [n]; `of_graphs` are further columns.

    Every point is joined to its 25 nearest neighbours (the Euclidean ones, whatever the tour was measured in): directed
    edges from the point to them. x: the coordinates; edge_attr: the distance; y: 1 where tour neighbours are joined,
    in either direction. An edge of the tour that leads beyond the 25 nearest neighbours of both its ends is not there.
    """
    nodes, edges, x, ends, lengths, labels = [], [], [], [], [], []
    for points, tour in instances:
        joined, distance, label = _graph(points, tour)
        nodes.append(len(points))
        edges.append(len(label))
        x.append(points.astype(np.float32))
        ends.append(joined)
        lengths.append(distance)
        labels.append(label)
    columns = {
        "x": Column(np.concatenate(x), "node", "coordinates in the unit square"),
        "edge_attr": Column(np.concatenate(lengths)[:, None], "edge", "Euclidean distance"),
        "y": Column(np.concatenate(labels), "edge", "1 for an edge of the tour", types=2),
        **(of_graphs or {}),
    }
    return GraphSet.build(nodes, edges, np.concatenate(ends, axis=1), columns)


def _graph(points: Array, tour: Array) -> tuple[Array, Array, Array]:
    n = len(points)
    distance = np.sqrt(np.square(points[:, None, :] - points[None, :, :]).sum(axis=2))
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, : min(NEIGHBOURS, n - 1)]
    chosen = np.zeros((n, n), np.uint8)
    chosen[tour, np.roll(tour, -1)] = chosen[np.roll(tour, -1), tour] = 1
    source, target = np.repeat(np.arange(n), near.shape[1]), near.reshape(-1)
    return np.stack([source, target]), distance[source, target].astype(np.float32), chosen[source, target]
