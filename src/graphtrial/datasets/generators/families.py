"""The ten graph families of the multi-task benchmark of Corso et al. 2020, drawn as their published data was.

The published data was made with the random numbers of Python and NumPy and with generators of NetworkX, which have
changed since. What is replayed here is the behaviour of NetworkX up to version 2.5, by code of our own that relies only
on what Python and NumPy promise to keep: `Random.random`, `Random.getrandbits` and the frozen `RandomState`.
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
Links = list[tuple[int, int]]
TREE_SWAPS = 10_000
SET_SLOTS = 8


def erdos_renyi(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Join each pair with a probability that is itself uniform, by skipping over pairs (Batagelj and Brandes 2005)."""
    draws = PythonDraws(seed)
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


def barabasi_albert(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Join each new node to some earlier ones, by preference to those that have many neighbours."""
    count = int(shared.random() * (nodes - 1)) + 1
    draws = PythonDraws(seed)
    links: Links = []
    ends: list[int] = []  # every node as often as it has neighbours
    chosen = list(range(count))
    for node in range(count, nodes):
        links += [(node, other) for other in chosen]
        ends += [*chosen, *[node] * count]
        found: list[int] = []
        while len(found) < count:
            other = ends[draws.below(len(ends))]
            if other not in found:
                found.append(other)
        chosen = as_set(found)
    return links


def grid(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Return the most square grid of so many nodes."""
    columns = nodes // _side(nodes)
    across = [(node, node + 1) for node in range(nodes) if (node + 1) % columns]
    return across + [(node, node + columns) for node in range(nodes - columns)]


def caveman(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Return cliques of equal size, as many as they are large or fewer."""
    size = nodes // _side(nodes)
    return [pair for start in range(0, nodes, size) for pair in combinations(range(start, start + size), 2)]


def tree(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Return a caterpillar whose degrees follow a power law: random degrees, changed one by one until they fit."""
    draws = PythonDraws(seed)
    drawn = draws.uniforms(nodes + TREE_SWAPS)
    # A Pareto variable of exponent 2; the square root is rounded alike on every machine.
    degrees = np.minimum(nodes, np.rint(1.0 / np.sqrt(1.0 - drawn))).astype(np.int64).tolist()
    kept, spare = degrees[:nodes], degrees[nodes:]
    total = sum(kept)
    while total != 2 * (nodes - 1):
        if len(spare) <= TREE_SWAPS // 2:
            raise GraphTrialError(f"no degrees of a tree of {nodes} nodes were found; take another seed")
        changed = draws.below(nodes)
        total += spare[-1] - kept[changed]
        kept[changed] = spare.pop()
    inner = sorted(degree for degree in kept if degree > 1)
    links = list(pairwise(range(len(inner) + 2)))
    leaf = len(inner) + 2
    for node, degree in enumerate(inner, start=1):
        links += [(node, other) for other in range(leaf, leaf + degree - 2)]
        leaf += degree - 2
    return links


def ladder(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Return two paths side by side, and at an odd number of nodes one more at the first."""
    half = nodes // 2
    rungs = [(node, node + half) for node in range(half)]
    odd = [(0, nodes - 1)] if nodes % 2 else []
    return [*pairwise(range(half)), *pairwise(range(half, 2 * half)), *rungs, *odd]


def line(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Return a path."""
    return list(pairwise(range(nodes)))


def star(nodes: int, seed: int, shared: PythonDraws) -> Links:
    """Return one node joined to all others."""
    return [(0, node) for node in range(1, nodes)]


def caterpillar(nodes: int, draws: np.random.RandomState) -> Links:
    """Return a path of random length with the other nodes hung on it."""
    path = int(draws.randint(1, nodes))
    return [*pairwise(range(path)), *((node, int(draws.randint(path))) for node in range(path, nodes))]


def lobster(nodes: int, draws: np.random.RandomState) -> Links:
    """Return a path of random length with nodes hung on it, and on these the others."""
    path = int(draws.randint(1, nodes))
    second = int(draws.randint(path + 1, nodes + 1))
    near = [(node, int(draws.randint(path))) for node in range(path, second)]
    return [*pairwise(range(path)), *near, *((node, int(draws.randint(path, second))) for node in range(second, nodes))]


Family = Callable[[int, int, "PythonDraws"], Links]
PLAIN: dict[str, Family] = {
    "erdos-renyi": erdos_renyi,
    "barabasi-albert": barabasi_albert,
    "grid": grid,
    "caveman": caveman,
    "tree": tree,
    "ladder": ladder,
    "line": line,
    "star": star,
}
HUNG = {"caterpillar": caterpillar, "lobster": lobster}
"""These begin NumPy's random numbers anew, and the rest of the graph goes on with theirs."""

SHARES = {
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


class PythonDraws:
    """The random numbers of Python's `random`, made of the two functions that never change."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def random(self) -> float:
        """Return a number from 0 to just below 1."""
        return self._source.random()

    def uniforms(self, count: int) -> npt.NDArray[np.float64]:
        """Return what `count` calls of `random` return."""
        bits = self._source.getrandbits(64 * count).to_bytes(8 * count, "little")
        words = np.frombuffer(bits, "<u4").reshape(-1, 2).astype(np.float64)
        high, low = np.floor(words[:, 0] / 2**5), np.floor(words[:, 1] / 2**6)
        return (high * 2.0**26 + low) * 2.0**-53

    def below(self, limit: int) -> int:
        """Return an integer from 0 to `limit` - 1."""
        while True:
            number = self._source.getrandbits(limit.bit_length())
            if number < limit:
                return number

    def shuffled(self, count: int) -> list[int]:
        """Return the numbers below `count` in random order."""
        order = list(range(count))
        for last in reversed(range(1, count)):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def log_ratio(number: float, base: float) -> int:
    """Return the whole part of log(number) / log(base), the same on every machine.

    Logarithms may differ in their last bit from one mathematics library to another. Where that could matter, and it
    does, because the first number drawn is often `base` itself but for its last bit, they are rounded correctly.
    """
    ratio = math.log(number) / math.log(base)
    if abs(ratio - round(ratio)) < 1e-6:
        ratio = float(Decimal(number).ln(_PRECISE)) / float(Decimal(base).ln(_PRECISE))
    return int(ratio)


def as_set(numbers: list[int]) -> list[int]:
    """Return integers below 32 in the order in which Python walks a set that they were added to one by one.

    The published graphs depend on it. Up to four numbers lie in a table of eight places, where one that is taken gives
    way to another; more of them lie in a table large enough for each to have the place of its own number.
    """
    if len(numbers) > 4:
        return sorted(numbers)
    slots: list[int | None] = [None] * SET_SLOTS
    for number in numbers:
        place = number % SET_SLOTS
        while slots[place] is not None:
            place = (5 * place + 1) % SET_SLOTS
        slots[place] = number
    return [number for number in slots if number is not None]


_PRECISE = Context(prec=50)


def _side(nodes: int) -> int:
    return max(side for side in range(1, math.isqrt(nodes) + 1) if nodes % side == 0)
