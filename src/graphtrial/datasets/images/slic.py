"""SLIC superpixels (Achanta et al. 2012), compatible with the scikit-image version of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import missing_extra

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Superpixels:
    """Superpixels of one image: mean colour [n, channels] in 0 to 1, centre of mass [n, 2] as row and column."""

    colour: Array
    centre: Array


def superpixels(image: Array, *, max_segments: int, n_segments: int, compactness: float) -> Superpixels:
    """Return at most `max_segments` superpixels of a uint8 image [rows, columns] or [rows, columns, 3].

    `n_segments` is decremented until SLIC returns at most `max_segments` (Knyazev et al. 2019).
    """
    labels = segments(image, max_segments=max_segments, n_segments=n_segments, compactness=compactness).reshape(-1)
    _, labels, counts = np.unique(labels, return_inverse=True, return_counts=True)
    pixels = image.reshape(len(labels), -1) / 255.0
    rows, columns = np.divmod(np.arange(len(labels)), image.shape[1])
    sums = [np.bincount(labels, values) for values in (*pixels.T, rows, columns)]
    means = np.stack(sums, axis=1) / counts[:, None]
    return Superpixels(means[:, :-2], means[:, -2:])


def segments(image: Array, *, max_segments: int, n_segments: int, compactness: float) -> Array:
    """Return the superpixel label of each pixel [rows, columns].

    Two changes of scikit-image since 2019 are reverted: images are rescaled to 0 to 1, which is compensated by the
    compactness; and the minimum segment size depends on the number of initial segments instead of `n_segments`.
    """
    try:
        from skimage.color import rgb2lab
        from skimage.segmentation import slic
    except ImportError:
        raise missing_extra("cutting images into superpixels", "scikit-image", "vision") from None
    colour = image.ndim == 3
    values = rgb2lab(image / 255.0) if colour else image / 255.0
    pixels = image.shape[0] * image.shape[1]
    value_range = float(values.max() - values.min()) or 1.0
    while True:
        grid, (smallest, largest) = _grid(image.shape[:2], n_segments), _sizes(pixels, n_segments)
        initial = int(np.prod([len(range(*part)) for part in grid]))
        labels: Array = slic(
            values,
            n_segments=n_segments,
            compactness=compactness / value_range,
            convert2lab=False,
            channel_axis=-1 if colour else None,
            start_label=0,
            min_size_factor=(smallest + 0.5) * initial / pixels,
            max_size_factor=(largest + 0.5) * initial / pixels,
        )
        counts = np.bincount(labels.reshape(-1))
        if np.count_nonzero(counts) <= max_segments:
            return labels
        n_segments -= 1
        # The result is unchanged while only the maximum size grows and no segment has reached it.
        while (
            counts.max() < largest
            and _grid(image.shape[:2], n_segments) == grid
            and _sizes(pixels, n_segments)[0] == smallest
        ):
            n_segments -= 1


def _grid(shape: tuple[int, ...], n_segments: int) -> list[tuple[int, int, int]]:
    """Return start, stop and step, in rows and columns, of the initial cluster centres."""
    from skimage.util import regular_grid

    return [part.indices(side) for part, side in zip(regular_grid(shape, n_segments), shape, strict=True)]


def _sizes(pixels: int, n_segments: int) -> tuple[int, int]:
    return int(0.5 * pixels / n_segments), int(3 * pixels / n_segments)
