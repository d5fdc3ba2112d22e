"""Moves that shorten a tour kept as an array, each a series of reversals in a log, so that it can be taken back."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]
Problem = tuple[Array, Array]
"""Distances and neighbours."""
State = tuple[Array, Array]
"""The tour, and the position of each point in it."""
Space = tuple[Array, Array, Array, Array, Array, Array, Array]
"""Room for one move: per level its choices, how many there are and were taken, the loose end, the gain so far."""

DEPTH = 3
"""The exchanges in one move at most."""


@compiled
def reverse(tour: Array, position: Array, first: int, last: int) -> None:
    """Reverse the stretch between two positions or, where that is shorter, the rest: to a cycle it is the same."""
    n = len(tour)
    inside = last - first + 1
    if inside <= 0:
        inside += n
    if 2 * inside > n:
        first, last, inside = last + 1, first - 1, n - inside
        if first == n:
            first = 0
        if last < 0:
            last = n - 1
    for _ in range(inside // 2):
        a, b = tour[first], tour[last]
        tour[first], tour[last] = b, a
        position[b], position[a] = first, last
        first += 1
        if first == n:
            first = 0
        last -= 1
        if last < 0:
            last = n - 1


@compiled
def beside(tour: Array, position: Array, point: int, forward: bool) -> int:
    """Return the point after or before another."""
    place = position[point] + (1 if forward else -1)
    return int(tour[0] if place == len(tour) else tour[place])


@compiled
def exchange(state: State, log: Array, logged: int, u: int, v: int, w: int, z: int) -> int:
    """Replace the tour's edges uv and wz by uw and vz; log the reversal that does it."""
    tour, position = state
    first, last = (position[v], position[w]) if beside(tour, position, u, True) == v else (position[w], position[v])
    log[logged, 0], log[logged, 1] = first, last
    reverse(tour, position, first, last)
    return logged + 1


@compiled
def deep_move(
    problem: Problem, state: State, space: Space, log: Array, logged: int, start: int, forward: bool
) -> tuple[int, int]:
    """Try exchanges of ever more edges from `start`; return what was gained and the length of the log."""
    distance, neighbours = problem
    tour, position = state
    width = neighbours.shape[1]
    others, befores, counts, taken, ends, gains, values = space
    level, fresh = 0, True
    ends[0] = beside(tour, position, start, forward)
    gains[0] = distance[start, ends[0]]
    while True:
        end = ends[level]
        if fresh:
            # Which point to join the loose end to: those that leave most to gain first.
            ahead = beside(tour, position, start, True) == end
            count = 0
            for k in range(width):
                other = neighbours[end, k]
                rest = gains[level] - distance[end, other]
                if rest <= 0:
                    break
                before = beside(tour, position, other, not ahead)
                if other == start or before == end:
                    continue
                value = rest + distance[before, other]
                place = count
                while place > 0 and values[place - 1] < value:
                    values[place] = values[place - 1]
                    others[level, place], befores[level, place] = others[level, place - 1], befores[level, place - 1]
                    place -= 1
                values[place], others[level, place], befores[level, place] = value, other, before
                count += 1
            counts[level] = min(count, 5)
            taken[level] = 0
            fresh = False
        if taken[level] < counts[level]:
            other, before = others[level, taken[level]], befores[level, taken[level]]
            taken[level] += 1
            gain = gains[level] - distance[end, other] + distance[before, other]
            closes = gain > distance[before, start]
            if not closes and level == DEPTH - 1:
                continue
            logged = exchange(state, log, logged, start, end, before, other)
            if closes:
                return gain - distance[before, start], logged
            level += 1
            ends[level], gains[level] = before, gain
            fresh = True
            continue
        if level == 0:
            return 0, logged
        level -= 1
        logged -= 1
        reverse(tour, position, log[logged, 0], log[logged, 1])


@compiled
def stretch_move(problem: Problem, state: State, log: Array, logged: int, start: int) -> tuple[int, int]:
    """Move one to three points, `start` at one end, to between two others; return gain and length of the log."""
    distance, neighbours = problem
    tour, position = state
    n = len(tour)
    for length in range(1, 4):
        for side in range(2):
            p = position[start] if side == 0 else (position[start] - length + 1) % n
            q = (p + length - 1) % n
            head, tail = tour[p], tour[q]
            far = tail if side == 0 else head
            left, right = beside(tour, position, head, False), beside(tour, position, tail, True)
            saved = distance[left, head] + distance[tail, right] - distance[left, right]
            for k in range(neighbours.shape[1]):
                other = neighbours[start, k]
                if distance[start, other] >= saved:
                    break
                if (position[other] - p) % n < length:
                    continue
                for ahead in (False, True):
                    mate = beside(tour, position, other, ahead)
                    gain = saved - distance[start, other] - distance[far, mate] + distance[other, mate]
                    if gain <= 0 or (position[mate] - p) % n < length:
                        continue
                    a, b = (other, mate) if ahead else (mate, other)
                    logged = exchange(state, log, logged, left, head, a, b)
                    logged = exchange(state, log, logged, left, a, right, tail)
                    if (start if ahead else far) == head:  # head is to follow a
                        logged = exchange(state, log, logged, a, tail, head, b)
                    return gain, logged
    return 0, logged
