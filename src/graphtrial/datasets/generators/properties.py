"""Properties of many small graphs of equal size at once, each the same number on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
DECIMALS = 6
"""Eigenvalues are rounded to so many decimals, far above the errors in which machines differ."""


def distances(joined: Array) -> npt.NDArray[np.int64]:
    """Return the lengths of shortest paths [graphs, nodes, nodes], -1 where there is none."""
    nodes = joined.shape[1]
    step = joined.astype(np.float32)  # exact for the small counts below
    found = np.where(np.eye(nodes, dtype=bool), 0, np.full(joined.shape, -1))
    reached = np.broadcast_to(np.eye(nodes, dtype=np.float32), joined.shape)
    for length in range(1, nodes):
        new = (reached @ step > 0) & (found < 0)
        if not new.any():
            break
        found[new] = length
        reached = new.astype(np.float32)
    return found


def eccentricity(distance: Array) -> Array:
    """Return the distance to the farthest node that can be reached [graphs, nodes]."""
    farthest: Array = distance.max(axis=2)
    return farthest


def diameter(distance: Array) -> Array:
    """Return the largest distance of two nodes of one component [graphs]."""
    largest: Array = distance.max(axis=(1, 2))
    return largest


def is_connected(distance: Array) -> Array:
    """Return whether every node can be reached from every other [graphs]."""
    return np.asarray((distance >= 0).all(axis=(1, 2)))


def has_odd_cycle(joined: Array, distance: Array) -> Array:
    """Return whether a connected graph is not bipartite: two neighbours are both evenly or oddly far from the first."""
    parity = distance[:, 0] % 2
    odd: Array = (joined & (parity[:, :, None] == parity[:, None, :])).any(axis=(1, 2))
    return odd


def laplacian_features(joined: Array, value: Array) -> Array:
    r"""Return :math:`(D - A) v` [graphs, nodes], summed in the order of the nodes."""
    total = np.zeros_like(value)
    for node in range(joined.shape[1]):
        total += np.where(joined[:, :, node], value - value[:, node, None], 0.0)
    return total


def spectral_radius(joined: Array) -> Array:
    """Return the largest magnitude of an eigenvalue of the adjacency matrix [graphs]."""
    radius: Array = np.abs(np.linalg.eigvalsh(joined.astype(np.float64))).max(axis=1)
    return np.round(radius, DECIMALS)
