"""k-nearest-neighbour graphs with Gaussian edge weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def gaussian_neighbours(points: Array, neighbours: int) -> tuple[Array, Array]:
    r"""Return edges [2, edges] from each point to its `neighbours` heaviest neighbours, and their weights.

    .. math:: w_{ij} = \tfrac12 \big( e^{-(d_{ij} / \sigma_i)^2} + e^{-(d_{ij} / \sigma_j)^2} \big)

    with the mean distance :math:`\sigma_i` of point i to its nearest neighbours (Dwivedi et al., equation 47, made
    symmetric). With at most `neighbours` + 1 points the graph is complete; a single point gets a self-loop.
    """
    count = len(points)
    if count == 1:
        return np.zeros((2, 1), np.int64), np.zeros(1)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    nearest = np.sort(distance, axis=1)[:, 1 : neighbours + 1]  # without the point itself
    scale = nearest.sum(axis=1) / neighbours + 1e-8
    weight = np.exp(-((distance / scale[:, None]) ** 2))
    weight = (weight + weight.T) / 2
    np.fill_diagonal(weight, -1.0)
    chosen = np.argsort(-weight, axis=1, kind="stable")[:, : min(neighbours, count - 1)]
    source = np.repeat(np.arange(count), chosen.shape[1])
    return np.stack([source, chosen.reshape(-1)]), np.take_along_axis(weight, chosen, axis=1).reshape(-1)
