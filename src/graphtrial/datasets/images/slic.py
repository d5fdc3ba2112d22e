"""Images as superpixels: SLIC (Achanta et al. 2012) from scikit-image, as it was when the benchmark was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import missing_extra

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Superpixels:
    """One image as superpixels: mean colour [n, channels] in 0 to 1, centre of mass [n, 2] as row and column."""

    colour: Array
    centre: Array


def superpixels(image: Array, *, most: int, ask: int, compactness: float) -> Superpixels:
    """Return at most `most` superpixels of an image of bytes [rows, columns] or [rows, columns, 3].

    `ask` segments are asked for first, and one fewer as long as more than `most` come out (Knyazev et al. 2019).
    """
    labels = segments(image, most=most, ask=ask, compactness=compactness).reshape(-1)
    _, labels, counts = np.unique(labels, return_inverse=True, return_counts=True)
    pixels = image.reshape(len(labels), -1) / 255.0
    rows, columns = np.divmod(np.arange(len(labels)), image.shape[1])
    sums = [np.bincount(labels, values) for values in (*pixels.T, rows, columns)]
    means = np.stack(sums, axis=1) / counts[:, None]
    return Superpixels(means[:, :-2], means[:, -2:])


def segments(image: Array, *, most: int, ask: int, compactness: float) -> Array:
    """Return the number of the superpixel of each pixel [rows, columns].

    Since 2019 scikit-image has changed two things, which are undone here: it scales each image to 0 to 1, which
    the compactness makes up for; and the least size of a segment follows the segments it starts with, no longer those
    it was asked for.
    """
    try:
        from skimage.color import rgb2lab
        from skimage.segmentation import slic
    except ImportError:
        raise missing_extra("cutting images into superpixels", "scikit-image", "vision") from None
    colour = image.ndim == 3
    values = rgb2lab(image / 255.0) if colour else image / 255.0
    pixels = image.shape[0] * image.shape[1]
    spread = float(values.max() - values.min()) or 1.0
    while True:
        grid, (least, largest) = _grid(image.shape[:2], ask), _sizes(pixels, ask)
        started = int(np.prod([len(range(*part)) for part in grid]))
        labels: Array = slic(
            values,
            n_segments=ask,
            compactness=compactness / spread,
            convert2lab=False,
            channel_axis=-1 if colour else None,
            start_label=0,
            min_size_factor=(least + 0.5) * started / pixels,
            max_size_factor=(largest + 0.5) * started / pixels,
        )
        counts = np.bincount(labels.reshape(-1))
        if np.count_nonzero(counts) <= most:
            return labels
        ask -= 1
        # Asking again would give the same while only the largest allowed size grows, which no segment has reached.
        while counts.max() < largest and _grid(image.shape[:2], ask) == grid and _sizes(pixels, ask)[0] == least:
            ask -= 1


def _grid(shape: tuple[int, ...], ask: int) -> list[tuple[int, int, int]]:
    """Return start, stop and step, in rows and columns, of the points from which the segments grow."""
    from skimage.util import regular_grid

    return [part.indices(side) for part, side in zip(regular_grid(shape, ask), shape, strict=True)]


def _sizes(pixels: int, ask: int) -> tuple[int, int]:
    return int(0.5 * pixels / ask), int(3 * pixels / ask)
