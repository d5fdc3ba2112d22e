"""Synthetic graph with the class sizes and inter-class link counts of Wiki-CS."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.generators.draws import Draws
from graphtrial.datasets.generators.sampling import approx_normal, distinct

Array = npt.NDArray[Any]
CLASSES = (
    "Computational linguistics",
    "Databases",
    "Operating systems",
    "Computer architecture",
    "Computer security",
    "Internet protocols",
    "Computer file systems",
    "Distributed computing architecture",
    "Web technology",
    "Programming language topics",
)
SIZES = (295, 667, 2153, 1933, 2679, 780, 413, 865, 492, 1424)

# How many links go from articles of one class (row) to those of another (column): the published densities, each times
# the sizes of its two classes, are these integers (statistics.json of the Wiki-CS repository, MIT licence).
LINKS = (
    (1485, 50, 79, 41, 37, 31, 3, 37, 44, 161),
    (34, 6520, 1081, 515, 262, 214, 103, 781, 319, 1086),
    (59, 834, 68622, 10857, 2933, 1976, 3917, 2268, 1239, 4286),
    (32, 260, 8760, 41957, 712, 546, 605, 1396, 214, 1264),
    (38, 326, 4103, 1011, 29123, 2164, 554, 1068, 537, 864),
    (32, 168, 1857, 577, 1397, 11985, 206, 661, 756, 741),
    (4, 94, 3751, 912, 378, 154, 13973, 331, 105, 339),
    (16, 585, 1741, 1187, 694, 618, 257, 4815, 579, 761),
    (20, 367, 1402, 275, 410, 898, 163, 815, 3189, 1257),
    (86, 694, 4146, 1533, 446, 756, 269, 684, 796, 23822),
)
PAIRS = 216_123
SELF_LINKS = 520
FEATURES = 300
SPREAD = 0.17
"""Standard deviation of the class means: a linear model reaches 73 % accuracy, as on Wiki-CS."""
ORDER, ENDS, WAYS, LOOPS, MEANS, NOISE = range(6)
"""Indices of the random streams."""


def labels(seed: int) -> npt.NDArray[np.uint8]:
    """Sample the class of each article."""
    in_order = np.repeat(np.arange(len(SIZES), dtype=np.uint8), SIZES)
    return in_order[Draws(seed, ORDER).permutation(len(in_order))]


def links(classes: npt.NDArray[np.uint8], seed: int) -> npt.NDArray[np.int64]:
    """Sample directed links [2, 297110] with exactly the published counts between classes.

    Linked articles are uniform within their classes. Mutual links and self-links are apportioned to class pairs, so
    that there are 216,123 linked pairs, 520 of them self-links.
    """
    counts = np.array(LINKS)
    members = [np.flatnonzero(classes == number) for number in range(len(SIZES))]
    loops = apportion(SELF_LINKS, np.diag(counts))
    inside = np.diag(counts) - loops
    upper = np.triu_indices(len(SIZES), 1)
    possible = np.concatenate([inside // 2, np.minimum(counts, counts.T)[upper]])
    mutual = apportion(int(counts.sum()) - PAIRS, possible)
    ends, ways, alone = Draws(seed, ENDS), Draws(seed, WAYS), Draws(seed, LOOPS)
    chunks: list[Array] = []
    for number, own in enumerate(members):
        pairs = own[_within(distinct(ends, len(own) * (len(own) - 1) // 2, int(inside[number] - mutual[number])))]
        flipped = ways.below(np.full(pairs.shape[1], 2)) == 1
        pairs[:, flipped] = pairs[::-1, flipped]
        chunks += [
            pairs,
            pairs[::-1, : mutual[number]],
            own[np.tile(distinct(alone, len(own), int(loops[number])), (2, 1))],
        ]
    for number, (first, second) in enumerate(zip(*upper, strict=True)):
        both = int(mutual[len(SIZES) + number])
        there, back = int(counts[first, second]), int(counts[second, first])
        codes = distinct(ends, SIZES[first] * SIZES[second], there + back - both)
        pairs = np.stack([members[first][codes // SIZES[second]], members[second][codes % SIZES[second]]])
        chunks += [pairs[:, :there], pairs[::-1, there - both :]]
    return np.concatenate(chunks, axis=1).astype(np.int64)


def features(classes: npt.NDArray[np.uint8], seed: int) -> npt.NDArray[np.float32]:
    """Sample features [articles, 300], approximately normal around the class mean."""
    means = np.float32(SPREAD) * approx_normal(Draws(seed, MEANS), len(SIZES), FEATURES)
    vectors: npt.NDArray[np.float32] = means[classes] + approx_normal(Draws(seed, NOISE), len(classes), FEATURES)
    return vectors


def apportion(total: int, limits: Array) -> npt.NDArray[np.int64]:
    """Apportion `total` proportionally to `limits` by largest remainders; no part exceeds its limit."""
    exact = total * limits / limits.sum()
    parts: npt.NDArray[np.int64] = np.floor(exact).astype(np.int64)
    rest = np.argsort(parts - exact, kind="stable")[: total - int(parts.sum())]
    parts[rest] += 1
    return parts


def _within(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Decode pair indices in the order 1-0, 2-0, 2-1, 3-0, ... to (larger, smaller)."""
    larger = np.floor((1 + np.sqrt(1.0 + 8.0 * codes)) / 2).astype(np.int64)
    larger -= larger * (larger - 1) // 2 > codes  # correct square roots that were rounded up
    return np.stack([larger, codes - larger * (larger - 1) // 2])
