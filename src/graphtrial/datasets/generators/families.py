"""The ten graph families of the multi-task benchmark of Corso et al. 2020, bit-exact to the published data.

The published data used the random generators of Python and NumPy and graph generators of NetworkX up to version 2.5,
which have changed since. They are reimplemented on what Python and NumPy guarantee to be stable: `Random.random`,
`Random.getrandbits` and the frozen `RandomState`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Context, Decimal
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError

Array = npt.NDArray[Any]
EdgeList = list[tuple[int, int]]
TREE_SWAPS = 10_000
SET_SLOTS = 8


def erdos_renyi(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Erdos-Renyi graph with uniform random edge probability, sampled by skips (Batagelj and Brandes 2005)."""
    draws = PythonRandom(seed)
    absent = 1.0 - shared.random() * nodes / nodes
    links, node, other = [], 1, -1
    while node < nodes and absent < 1.0:
        other += 1 + log_ratio(1.0 - draws.random(), absent)
        while other >= node and node < nodes:
            other -= node
            node += 1
        if node < nodes:
            links.append((node, other))
    return links


def barabasi_albert(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Barabasi-Albert graph by preferential attachment."""
    count = int(shared.random() * (nodes - 1)) + 1
    draws = PythonRandom(seed)
    links: EdgeList = []
    ends: list[int] = []  # each node repeated by its degree
    chosen = list(range(count))
    for node in range(count, nodes):
        links += [(node, other) for other in chosen]
        ends += [*chosen, *[node] * count]
        sample: list[int] = []
        while len(sample) < count:
            other = ends[draws.below(len(ends))]
            if other not in sample:
                sample.append(other)
        chosen = set_order(sample)
    return links


def grid(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Grid graph with the most balanced side lengths."""
    columns = nodes // _side(nodes)
    across = [(node, node + 1) for node in range(nodes) if (node + 1) % columns]
    return across + [(node, node + columns) for node in range(nodes - columns)]


def caveman(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Caveman graph: disjoint cliques of equal size, at most as many as their size."""
    size = nodes // _side(nodes)
    return [pair for start in range(0, nodes, size) for pair in combinations(range(start, start + size), 2)]


def tree(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Caterpillar tree with power-law degrees, resampled one by one until they sum to 2 (nodes - 1)."""
    draws = PythonRandom(seed)
    drawn = draws.uniforms(nodes + TREE_SWAPS)
    # Pareto distribution with exponent 2; IEEE square roots are correctly rounded, hence reproducible.
    degrees = np.minimum(nodes, np.rint(1.0 / np.sqrt(1.0 - drawn))).astype(np.int64).tolist()
    chosen, spare = degrees[:nodes], degrees[nodes:]
    total = sum(chosen)
    while total != 2 * (nodes - 1):
        if len(spare) <= TREE_SWAPS // 2:
            raise GraphTrialError(f"no degrees of a tree of {nodes} nodes were found; take another seed")
        changed = draws.below(nodes)
        total += spare[-1] - chosen[changed]
        chosen[changed] = spare.pop()
    inner = sorted(degree for degree in chosen if degree > 1)
    links = list(pairwise(range(len(inner) + 2)))
    leaf = len(inner) + 2
    for node, degree in enumerate(inner, start=1):
        links += [(node, other) for other in range(leaf, leaf + degree - 2)]
        leaf += degree - 2
    return links


def ladder(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Ladder graph; an odd node is attached to node 0."""
    half = nodes // 2
    rungs = [(node, node + half) for node in range(half)]
    odd = [(0, nodes - 1)] if nodes % 2 else []
    return [*pairwise(range(half)), *pairwise(range(half, 2 * half)), *rungs, *odd]


def line(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Path graph."""
    return list(pairwise(range(nodes)))


def star(nodes: int, seed: int, shared: PythonRandom) -> EdgeList:
    """Star graph."""
    return [(0, node) for node in range(1, nodes)]


def caterpillar(nodes: int, draws: np.random.RandomState) -> EdgeList:
    """Caterpillar: a path of random length, other nodes attached to it."""
    path = int(draws.randint(1, nodes))
    return [*pairwise(range(path)), *((node, int(draws.randint(path))) for node in range(path, nodes))]


def lobster(nodes: int, draws: np.random.RandomState) -> EdgeList:
    """Lobster: a caterpillar with the remaining nodes attached to its leaves."""
    path = int(draws.randint(1, nodes))
    second = int(draws.randint(path + 1, nodes + 1))
    near = [(node, int(draws.randint(path))) for node in range(path, second)]
    return [*pairwise(range(path)), *near, *((node, int(draws.randint(path, second))) for node in range(second, nodes))]


Family = Callable[[int, int, "PythonRandom"], EdgeList]
PYTHON_FAMILIES: dict[str, Family] = {
    "erdos-renyi": erdos_renyi,
    "barabasi-albert": barabasi_albert,
    "grid": grid,
    "caveman": caveman,
    "tree": tree,
    "ladder": ladder,
    "line": line,
    "star": star,
}
NUMPY_FAMILIES = {"caterpillar": caterpillar, "lobster": lobster}
"""Families that reset the NumPy random state, which the rest of the graph continues with."""

FREQUENCIES = {
    "erdos-renyi": 0.2,
    "barabasi-albert": 0.2,
    "grid": 0.05,
    "caveman": 0.05,
    "tree": 0.15,
    "ladder": 0.05,
    "line": 0.05,
    "star": 0.05,
    "caterpillar": 0.1,
    "lobster": 0.1,
}


class PythonRandom:
    """Python's `random`, based on the two functions whose output is guaranteed."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def random(self) -> float:
        """Sample a uniform float in [0, 1)."""
        return self._source.random()

    def uniforms(self, count: int) -> npt.NDArray[np.float64]:
        """Sample `count` floats, equal to as many calls of `random`."""
        bits = self._source.getrandbits(64 * count).to_bytes(8 * count, "little")
        words = np.frombuffer(bits, "<u4").reshape(-1, 2).astype(np.float64)
        high, low = np.floor(words[:, 0] / 2**5), np.floor(words[:, 1] / 2**6)
        return (high * 2.0**26 + low) * 2.0**-53

    def below(self, limit: int) -> int:
        """Sample an integer from 0 to `limit` - 1."""
        while True:
            number = self._source.getrandbits(limit.bit_length())
            if number < limit:
                return number

    def shuffled(self, count: int) -> list[int]:
        """Return a random permutation of `range(count)`."""
        order = list(range(count))
        for last in reversed(range(1, count)):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def log_ratio(number: float, base: float) -> int:
    """Return floor(log(number) / log(base)), reproducible on every machine.

    The last bit of a logarithm depends on the math library. Near integers, which are frequent because the first sample
    is often `base` up to its last bit, correctly rounded logarithms are used.
    """
    ratio = math.log(number) / math.log(base)
    if abs(ratio - round(ratio)) < 1e-6:
        ratio = float(Decimal(number).ln(_PRECISE)) / float(Decimal(base).ln(_PRECISE))
    return int(ratio)


def set_order(numbers: list[int]) -> list[int]:
    """Return integers below 32 in the iteration order of a CPython set that they were inserted into.

    The published graphs depend on it. Up to four elements share a hash table of eight slots with collisions; larger
    tables have a slot for each number.
    """
    if len(numbers) > 4:
        return sorted(numbers)
    slots: list[int | None] = [None] * SET_SLOTS
    for number in numbers:
        slot = number % SET_SLOTS
        while slots[slot] is not None:
            slot = (5 * slot + 1) % SET_SLOTS
        slots[slot] = number
    return [number for number in slots if number is not None]


_PRECISE = Context(prec=50)


def _side(nodes: int) -> int:
    return max(side for side in range(1, math.isqrt(nodes) + 1) if nodes % side == 0)
