"""Local search moves on an array tour, Lin-Kernighan and Or-opt; reversals are logged so that they can be undone."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from graphtrial.core.compiler import compiled

Array = npt.NDArray[Any]
Problem = tuple[Array, Array]
"""Distance matrix and candidate neighbour lists."""
State = tuple[Array, Array]
"""Tour, and the position of each point in it."""
Space = tuple[Array, Array, Array, Array, Array, Array, Array]
"""Work arrays of one move: per level the candidates, their number and the number tried, the loose end, the gain."""

DEPTH = 3
"""Maximum depth of a move: exchanges in sequence."""


@compiled
def reverse(tour: Array, position: Array, first: int, last: int) -> None:
    """Reverse the segment between two positions, or its complement where that is shorter."""
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
def adjacent(tour: Array, position: Array, point: int, forward: bool) -> int:
    """Return the successor or predecessor of a point in the tour."""
    index = position[point] + (1 if forward else -1)
    return int(tour[0] if index == len(tour) else tour[index])


@compiled
def exchange(state: State, log: Array, logged: int, u: int, v: int, w: int, z: int) -> int:
    """2-opt move: replace the tour edges uv and wz by uw and vz, and log the reversal."""
    tour, position = state
    first, last = (position[v], position[w]) if adjacent(tour, position, u, True) == v else (position[w], position[v])
    log[logged, 0], log[logged, 1] = first, last
    reverse(tour, position, first, last)
    return logged + 1


@compiled
def lin_kernighan_move(
    problem: Problem, state: State, space: Space, log: Array, logged: int, start: int, forward: bool
) -> tuple[int, int]:
    """Lin-Kernighan move of depth up to DEPTH from `start`, with backtracking; return gain and length of the log."""
    distance, neighbours = problem
    tour, position = state
    width = neighbours.shape[1]
    others, befores, counts, taken, ends, gains, values = space
    level, fresh = 0, True
    ends[0] = adjacent(tour, position, start, forward)
    gains[0] = distance[start, ends[0]]
    while True:
        end = ends[level]
        if fresh:
            # Candidates for the new edge at the loose end, sorted by remaining gain.
            is_forward = adjacent(tour, position, start, True) == end
            count = 0
            for k in range(width):
                other = neighbours[end, k]
                rest = gains[level] - distance[end, other]
                if rest <= 0:
                    break
                before = adjacent(tour, position, other, not is_forward)
                if other == start or before == end:
                    continue
                value = rest + distance[before, other]
                index = count
                while index > 0 and values[index - 1] < value:
                    values[index] = values[index - 1]
                    others[level, index], befores[level, index] = others[level, index - 1], befores[level, index - 1]
                    index -= 1
                values[index], others[level, index], befores[level, index] = value, other, before
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
def or_opt_move(problem: Problem, state: State, log: Array, logged: int, start: int) -> tuple[int, int]:
    """Or-opt move: relocate a segment of one to three points that begins or ends with `start`; return as above."""
    distance, neighbours = problem
    tour, position = state
    n = len(tour)
    for length in range(1, 4):
        for side in range(2):
            p = position[start] if side == 0 else (position[start] - length + 1) % n
            q = (p + length - 1) % n
            head, tail = tour[p], tour[q]
            far = tail if side == 0 else head
            left, right = adjacent(tour, position, head, False), adjacent(tour, position, tail, True)
            saved = distance[left, head] + distance[tail, right] - distance[left, right]
            for k in range(neighbours.shape[1]):
                other = neighbours[start, k]
                if distance[start, other] >= saved:
                    break
                if (position[other] - p) % n < length:
                    continue
                for is_forward in (False, True):
                    mate = adjacent(tour, position, other, is_forward)
                    gain = saved - distance[start, other] - distance[far, mate] + distance[other, mate]
                    if gain <= 0 or (position[mate] - p) % n < length:
                        continue
                    a, b = (other, mate) if is_forward else (mate, other)
                    logged = exchange(state, log, logged, left, head, a, b)
                    logged = exchange(state, log, logged, left, a, right, tail)
                    if (start if is_forward else far) == head:  # head follows a
                        logged = exchange(state, log, logged, a, tail, head, b)
                    return gain, logged
    return 0, logged
