"""k-nearest-neighbour graphs of superpixels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.images.knn_graph import gaussian_neighbours
from graphtrial.datasets.images.slic import Superpixels, superpixels
from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
NEIGHBOURS = 8


@dataclass(frozen=True)
class SuperpixelConfig:
    """Arguments of `superpixels`; `side` is the height and width of the images."""

    side: int
    max_segments: int
    n_segments: int
    compactness: float


@dataclass(frozen=True)
class GraphArrays:
    """Arrays of a chunk of graphs: numbers of nodes and edges, node features, edge index, edge weights."""

    nodes: Array
    edges: Array
    x: Array
    ends: Array
    weights: Array


def images_to_graphs(images: Array, config: SuperpixelConfig) -> GraphArrays:
    """Segment images into superpixels and build their graphs."""
    options = {"max_segments": config.max_segments, "n_segments": config.n_segments}
    segmented = (superpixels(image, **options, compactness=config.compactness) for image in images)
    return superpixels_to_graphs(segmented, config)


def superpixels_to_graphs(images: Iterable[Superpixels], config: SuperpixelConfig) -> GraphArrays:
    """Build graphs with colour and position as node features and Gaussian edge weights."""
    rows, ends, weights = [], [], []
    for image in images:
        positions = image.centre.astype(np.float64) / config.side
        edges, weight = gaussian_neighbours(positions, NEIGHBOURS)
        rows.append(np.concatenate([image.colour, positions], axis=1).astype(np.float16))
        ends.append(edges.astype(np.int16))
        weights.append(weight.astype(np.float16))
    nodes, edges = (np.array([len(part) for part in parts]) for parts in (rows, weights))
    return GraphArrays(nodes, edges, np.concatenate(rows), np.concatenate(ends, axis=1), np.concatenate(weights))


def superpixel_set(parts: Sequence[GraphArrays], labels: Array, classes: int) -> GraphSet:
    """Concatenate chunks of graphs, with their classes, to a graph set."""
    x = np.concatenate([part.x for part in parts]).astype(np.float32)
    colours = "grey" if x.shape[1] == 3 else "red, green, blue"
    weights = np.concatenate([part.weights for part in parts]).astype(np.float32)[:, None]
    columns = {
        "x": Column(x, "node", f"{colours}, row, column, in 0 to 1"),
        "edge_attr": Column(weights, "edge", "Gaussian weight of the distance"),
        "y": Column(labels.astype(np.uint8), "graph", "class", types=classes),
    }
    nodes, edges = (np.concatenate([getattr(part, name) for part in parts]) for name in ("nodes", "edges"))
    return GraphSet.build(nodes, edges, np.concatenate([part.ends for part in parts], axis=1), columns)
