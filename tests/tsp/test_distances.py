"""Distances in integers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from graphtrial.core.errors import UnknownNameError
from graphtrial.tsp.distances import EUCLIDEAN_UNITS, distances, unit


def test_euclidean_distances_match_scipy_to_a_millionth() -> None:
    points = np.random.default_rng(0).random((40, 2))
    ours = distances(points, "euclidean")
    assert ours.dtype == np.int64
    assert (ours == ours.T).all()
    np.testing.assert_allclose(ours * unit("euclidean"), cdist(points, points), atol=0.5 / EUCLIDEAN_UNITS + 1e-12)


def test_geographic_distances_are_great_circles_of_whole_kilometres() -> None:
    points = np.random.default_rng(1).random((40, 2))
    ours = distances(points, "geographic")
    angles = np.deg2rad(points * 5 / 3)
    latitude, longitude = angles.T
    half = np.sin((latitude[:, None] - latitude) / 2) ** 2
    half += np.cos(latitude[:, None]) * np.cos(latitude) * np.sin((longitude[:, None] - longitude) / 2) ** 2
    haversine = 2 * 6378.388 * np.arcsin(np.sqrt(half))
    apart = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(ours[apart], haversine[apart] + 0.5, atol=0.51)
    assert (np.diag(ours) == 0).all()


def test_unknown_metric_is_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'euclidean'"):
        distances(np.zeros((5, 2)), "euclidian")
