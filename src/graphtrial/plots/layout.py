"""Graph layouts for nodes without coordinates."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
KAMADA_KAWAI_NODES = 80
"""Maximum number of nodes of the Kamada-Kawai layout; larger graphs use the faster spring layout."""


def layout(count: int, ends: Array) -> Array:
    """Return node positions [nodes, 2]: each connected component is laid out by itself, and the boxes are packed."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(ends.T.tolist())
    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=lambda p: (-len(p), p))
    places = np.zeros((count, 2))
    boxes = [_layout_component(graph.subgraph(part), part) for part in parts]
    across = max(2.0, float(np.sqrt(sum(np.prod(np.ptp(box, axis=0) + 1.0) for box in boxes))) * 1.2)
    x = y = height = 0.0
    for part, box in zip(parts, boxes, strict=True):
        low, size = box.min(axis=0), np.ptp(box, axis=0)
        if x and x + size[0] > across:
            x, y, height = 0.0, y - height - 1.0, 0.0
        places[part] = box - low + np.array([x, y - size[1]])
        x, height = x + size[0] + 1.0, max(height, float(size[1]))
    return places


def _layout_component(graph: nx.Graph, nodes: list[int]) -> Array:
    """Return positions of a connected graph, scaled to a median edge length of 1."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    start = nx.circular_layout(sorted(graph))
    if len(nodes) <= KAMADA_KAWAI_NODES:
        position = nx.kamada_kawai_layout(graph, pos=start)
    else:
        position = nx.spring_layout(graph, pos=start, seed=0, iterations=100)
    places = np.array([position[node] for node in nodes])
    edges = np.array([(nodes.index(u), nodes.index(v)) for u, v in graph.edges if u != v]).reshape(-1, 2)
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    scale = float(np.median(lengths)) or 1.0
    return places / scale


def discs(groups: Array) -> Array:
    """Return node positions [nodes, 2]: each group fills a disc (sunflower pattern), the discs lie on a circle."""
    names, numbers, counts = np.unique(groups, return_inverse=True, return_counts=True)
    radius = np.sqrt(counts)
    circle = max(radius.max() * 1.15 / np.sin(np.pi / max(len(names), 2)), 0.1) if len(names) > 1 else 0.0
    angle = 2 * np.pi * np.arange(len(names)) / len(names) + np.pi / 2
    centre = circle * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rank = np.zeros(len(groups))
    for number in range(len(names)):
        members = np.flatnonzero(numbers == number)
        rank[members] = np.arange(len(members)) + 0.5
    turn = rank * np.pi * (3 - np.sqrt(5))  # golden angle: uniform density
    positions: Array = centre[numbers] + np.sqrt(rank)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return positions
