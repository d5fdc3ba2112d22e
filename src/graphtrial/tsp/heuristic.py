"""Iterated local search: Lin-Kernighan and Or-opt moves, and segment-local double-bridge kicks.

Integer arithmetic and a xorshift generator make the tour the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled
from graphtrial.tsp.lin_kernighan import (
    DEPTH,
    Problem,
    Space,
    State,
    exchange,
    lin_kernighan_move,
    or_opt_move,
    reverse,
)

Array = npt.NDArray[Any]

NEIGHBOURS = 10
SEGMENT = 50
"""Maximum segment length of a double-bridge kick: repairing a local kick takes time independent of n."""


def nearest_neighbours(distance: Array, count: int) -> Array:
    """Return the `count` nearest neighbours of each point [n, count], nearest first; ties go to the lower index."""
    padded = distance.copy()
    np.fill_diagonal(padded, np.iinfo(np.int64).max)
    return np.argsort(padded, axis=1, kind="stable")[:, :count].astype(np.int64)


def iterated_local_search(distance: Array, kicks: int, seed: int, neighbours: Array | None = None) -> Array:
    """Return a short tour [n], a permutation that starts with point 0, by iterated local search with `kicks` kicks.

    `neighbours` [n, k] are the candidate lists of the moves, sorted by distance; nearest neighbours by default.
    """
    n = len(distance)
    tour = np.arange(n, dtype=np.int64)
    if neighbours is None:
        neighbours = nearest_neighbours(distance, min(NEIGHBOURS, n - 1))
    _nearest_neighbour_tour(distance, tour)
    _search(distance, neighbours, tour, kicks if n >= 8 else 0, seed)
    return canonical(tour)


def canonical(tour: Array) -> Array:
    """Return the tour rotated to start with point 0, in the direction whose second point is less than the last."""
    rotated = np.roll(tour, -int(np.argmin(tour)))
    return rotated if len(rotated) < 3 or rotated[1] < rotated[-1] else np.roll(rotated[::-1], 1)


def tour_length(distance: Array, tour: Array) -> int:
    """Return the length of a closed tour."""
    return int(distance[tour, np.roll(tour, -1)].sum())


@compiled
def _nearest_neighbour_tour(distance: Array, tour: Array) -> None:
    n = len(tour)
    for place in range(1, n):
        best = place
        for other in range(place, n):
            if distance[tour[place - 1], tour[other]] < distance[tour[place - 1], tour[best]]:
                best = other
        tour[place], tour[best] = tour[best], tour[place]


@compiled
def _local_search(problem: Problem, state: State, space: Space, log: Array, logged: int, queue: Array, queued: Array, waiting: int) -> tuple[int, int]:  # fmt: skip  # noqa: E501
    """Local search from each point of a circular work queue to a local optimum; return gain and length of the log."""
    tour, _ = state
    n = len(tour)
    total, first = 0, 0
    while waiting:
        start = queue[first % n]
        first += 1
        waiting -= 1
        queued[start] = False
        improved = True
        while improved:
            improved = False
            before = logged
            if logged + DEPTH + 3 > len(log):  # the log is full, and moves must stay undoable
                queued[:] = False
                return total, logged
            gain, logged = lin_kernighan_move(problem, state, space, log, logged, start, True)
            if not gain:
                gain, logged = lin_kernighan_move(problem, state, space, log, logged, start, False)
            if not gain:
                gain, logged = or_opt_move(problem, state, log, logged, start)
            if gain:
                improved = True
                total += gain
                for entry in range(before, logged):
                    for place in (log[entry, 0] - 1, log[entry, 0], log[entry, 1], log[entry, 1] + 1):
                        point = tour[place % n]
                        if not queued[point]:
                            queued[point] = True
                            queue[(first + waiting) % n] = point
                            waiting += 1
    return total, logged


@compiled
def _search(distance: Array, neighbours: Array, tour: Array, kicks: int, seed: int) -> None:
    n = len(tour)
    position = np.empty(n, np.int64)
    position[tour] = np.arange(n)
    problem, state = (distance, neighbours), (tour, position)
    choices, levels = np.empty((2, DEPTH, neighbours.shape[1]), np.int64), np.empty((4, DEPTH), np.int64)
    values = np.empty(neighbours.shape[1], np.int64)
    space = (choices[0], choices[1], levels[0], levels[1], levels[2], levels[3], values)
    log = np.empty((100 * n + 10_000, 2), np.int64)
    queue, queued = tour.copy(), np.ones(n, np.bool_)
    _local_search(problem, state, space, log, 0, queue, queued, n)
    random = np.uint64(seed) * np.uint64(2862933555777941757) + np.uint64(3037000493)
    longest = max(1, min(SEGMENT, n // 3 - 1))
    draws = np.empty(4, np.int64)
    for _ in range(kicks):
        for k in range(4):
            random ^= random << np.uint64(13)
            random ^= random >> np.uint64(7)
            random ^= random << np.uint64(17)
            draws[k] = np.int64(random >> np.uint64(20)) % (n if k == 3 else longest)
        # a [b c] [d e] [f g] h becomes a [f g] [d e] [b c] h, the double bridge, by four reversals.
        p, q = draws[3], draws[3] + 1 + draws[0]
        r = q + 1 + draws[1]
        s = r + 1 + draws[2]
        a, b, c, d = tour[p], tour[(p + 1) % n], tour[q % n], tour[(q + 1) % n]
        e, f, g, h = tour[r % n], tour[(r + 1) % n], tour[s % n], tour[(s + 1) % n]
        change = distance[a, f] + distance[g, d] + distance[e, b] + distance[c, h]
        change -= distance[a, b] + distance[c, d] + distance[e, f] + distance[g, h]
        logged = exchange(state, log, 0, a, b, g, h)
        logged = exchange(state, log, logged, a, g, f, e)
        logged = exchange(state, log, logged, g, e, d, c)
        logged = exchange(state, log, logged, e, c, b, h)
        waiting = 0
        for point in (a, b, c, d, e, f, g, h):
            if not queued[point]:
                queued[point] = True
                queue[waiting] = point
                waiting += 1
        gain, logged = _local_search(problem, state, space, log, logged, queue, queued, waiting)
        if gain < change:
            for entry in range(logged - 1, -1, -1):
                reverse(tour, position, log[entry, 0], log[entry, 1])
