"""Batched properties of graphs of equal size, reproducible on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
DECIMALS = 6
"""Eigenvalues are rounded to this number of decimals, well above differences between machines."""


def distances(adjacency: Array) -> npt.NDArray[np.int64]:
    """Return shortest-path lengths [graphs, nodes, nodes], -1 for unreachable pairs."""
    nodes = adjacency.shape[1]
    step = adjacency.astype(np.float32)  # exact for the small counts below
    distance = np.where(np.eye(nodes, dtype=bool), 0, np.full(adjacency.shape, -1))
    reached = np.broadcast_to(np.eye(nodes, dtype=np.float32), adjacency.shape)
    for length in range(1, nodes):
        new = (reached @ step > 0) & (distance < 0)
        if not new.any():
            break
        distance[new] = length
        reached = new.astype(np.float32)
    return distance


def eccentricity(distance: Array) -> Array:
    """Return the eccentricity within the component [graphs, nodes]."""
    farthest: Array = distance.max(axis=2)
    return farthest


def diameter(distance: Array) -> Array:
    """Return the largest diameter of a component [graphs]."""
    largest: Array = distance.max(axis=(1, 2))
    return largest


def is_connected(distance: Array) -> Array:
    """Return whether each graph is connected [graphs]."""
    return np.asarray((distance >= 0).all(axis=(1, 2)))


def has_odd_cycle(adjacency: Array, distance: Array) -> Array:
    """Return whether a connected graph is not bipartite: neighbours at equal parity of distance from node 0."""
    parity = distance[:, 0] % 2
    odd: Array = (adjacency & (parity[:, :, None] == parity[:, None, :])).any(axis=(1, 2))
    return odd


def laplacian_features(adjacency: Array, value: Array) -> Array:
    r"""Return :math:`(D - A) v` [graphs, nodes], summed in the order of the nodes."""
    total = np.zeros_like(value)
    for node in range(adjacency.shape[1]):
        total += np.where(adjacency[:, :, node], value - value[:, node, None], 0.0)
    return total


def spectral_radius(adjacency: Array) -> Array:
    """Return the largest magnitude of an eigenvalue of the adjacency matrix [graphs]."""
    radius: Array = np.abs(np.linalg.eigvalsh(adjacency.astype(np.float64))).max(axis=1)
    return np.round(radius, DECIMALS)
