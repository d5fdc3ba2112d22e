"""Integer distance functions, as in TSPLIB: a proof of optimality needs exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import UnknownNameError, did_you_mean

Array = npt.NDArray[Any]

EUCLIDEAN_UNITS = 1_000_000
"""Units per side of the unit square: distances are rounded to a millionth."""

_EARTH_KILOMETRES = 6378.388
_PI = 3.141592  # as prescribed by TSPLIB


def euclidean(points: Array) -> Array:
    """Return Euclidean distances [n, n] in millionths, rounded to nearest."""
    offset = points[:, None, :] - points[None, :, :]
    distance: Array = np.rint(np.sqrt(np.square(offset).sum(axis=2)) * EUCLIDEAN_UNITS).astype(np.int64)
    return distance


def geographic(points: Array) -> Array:
    """Return the GEO distances [n, n] of TSPLIB in kilometres, points read as degrees.minutes of latitude, longitude.

    The unit square is then about 185 km wide, so that one unit is half a percent of its side and many tours are
    equally long. The tours that the benchmark was published with were computed in this metric.
    """
    degrees = np.trunc(points)
    angle = _PI * (degrees + 5.0 * (points - degrees) / 3.0) / 180.0
    latitude, longitude = angle[:, 0], angle[:, 1]
    q1 = np.cos(longitude[:, None] - longitude[None, :])
    q2 = np.cos(latitude[:, None] - latitude[None, :])
    q3 = np.cos(latitude[:, None] + latitude[None, :])
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    kilometres = (_EARTH_KILOMETRES * np.arccos(cosine) + 1.0).astype(np.int64)
    np.fill_diagonal(kilometres, 0)
    return kilometres


METRICS: dict[str, Callable[[Array], Array]] = {"euclidean": euclidean, "geographic": geographic}


def distances(points: Array, metric: str) -> Array:
    """Return the integer distance matrix [n, n] of points [n, 2]."""
    if metric not in METRICS:
        raise UnknownNameError(f"no metric '{metric}'.{did_you_mean(metric, METRICS)} Known: {', '.join(METRICS)}.")
    return METRICS[metric](points)


def unit(metric: str) -> float:
    """Return the length of one unit of `distances`, in sides of the unit square or in kilometres."""
    return 1.0 / EUCLIDEAN_UNITS if metric == "euclidean" else 1.0
