"""From superpixels to graphs: each is a node, joined to the nearest others."""

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
class Cut:
    """How images become superpixels: see `superpixels`; `side` is the images' height and width."""

    side: int
    most: int
    ask: int
    compactness: float


@dataclass(frozen=True)
class Joined:
    """Some images as graphs: sizes, node features, edges within each graph, weights."""

    nodes: Array
    edges: Array
    x: Array
    ends: Array
    weights: Array


def cut_and_join(images: Array, cut: Cut) -> Joined:
    """Return images as graphs of their superpixels."""
    found = (superpixels(image, most=cut.most, ask=cut.ask, compactness=cut.compactness) for image in images)
    return join(found, cut)


def join(things: Iterable[Superpixels], cut: Cut) -> Joined:
    """Return superpixels as graphs: colour and place of each, and its heaviest neighbours."""
    rows, ends, weights = [], [], []
    for thing in things:
        places = thing.centre.astype(np.float64) / cut.side
        edges, weight = gaussian_neighbours(places, NEIGHBOURS)
        rows.append(np.concatenate([thing.colour, places], axis=1).astype(np.float16))
        ends.append(edges.astype(np.int16))
        weights.append(weight.astype(np.float16))
    nodes, edges = (np.array([len(part) for part in parts]) for parts in (rows, weights))
    return Joined(nodes, edges, np.concatenate(rows), np.concatenate(ends, axis=1), np.concatenate(weights))


def superpixel_set(parts: Sequence[Joined], labels: Array, classes: int) -> GraphSet:
    """Return all images, with their classes, as one graph set."""
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
