"""The steps of sequential minimal optimisation, compiled.

Arrays over the examples have the shape [blocks, LANES], filled up at the end by examples of sign 0, so that the lanes
of a block become vector instructions, for which each short loop writes to one array alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtrial.core.compiler import exact

LANES = 128
TOLERANCE = 1e-3
"""How far apart the optimality conditions of two examples may be at the end."""
TINY = 1e-12
"""Stands for a curvature that is not positive."""


@exact
def sliced(matrix: Any, ids: Any) -> Any:
    """Return some rows and the same columns of a matrix, in single precision, filled up to whole blocks."""
    made = np.zeros((len(ids), (len(ids) + LANES - 1) // LANES * LANES), np.float32)
    for row in range(len(ids)):
        for column in range(len(ids)):
            made[row, column] = matrix[ids[row], ids[column]]
    return made


@exact
def run(kernel: Any, diagonal: Any, sign: Any, weight: Any, ahead: Any, penalty: float, steps: int) -> Any:
    """Take so many steps, or fewer; return whether the problem is solved, and the highest weight on the way."""
    blocks, lanes = sign.shape
    rising, falling = np.empty((blocks, lanes)), np.empty((blocks, lanes))
    value, gain, top, low = np.empty((blocks, lanes)), np.empty((blocks, lanes)), np.empty(lanes), np.empty(lanes)
    for b in range(blocks):
        for lane in range(lanes):
            _bounds(b, lane, sign, weight, penalty, rising, falling)
    highest = 0.0
    nothing = kernel[0]
    _advance(ahead, rising, nothing, 0.0, nothing, 0.0, value, top)
    for _ in range(steps):
        i, best = _last_of_the_highest(value, top)
        bi, li = i // lanes, i % lanes
        row = kernel[i]
        least = _gains(ahead, falling, row, diagonal, diagonal[bi, li], best, gain, top, low)
        if best - least < TOLERANCE:
            return True, highest
        j = _last_of_the_highest(gain, top)[0]
        bj, lj = j // lanes, j % lanes
        curve = diagonal[bi, li] + diagonal[bj, lj] - 2.0 * row[bj, lj]
        step = (ahead[bi, li] - ahead[bj, lj]) / (curve if curve > 0.0 else TINY)
        old_i, old_j = weight[bi, li], weight[bj, lj]
        yi, yj = sign[bi, li], sign[bj, lj]
        new_i, new_j = _within(old_i, old_j, old_i + yi * step, old_j - yj * step, yi == yj, penalty)
        weight[bi, li], weight[bj, lj] = new_i, new_j
        highest = max(highest, new_i, new_j)
        _bounds(bi, li, sign, weight, penalty, rising, falling)
        _bounds(bj, lj, sign, weight, penalty, rising, falling)
        _advance(ahead, rising, row, yi * (new_i - old_i), kernel[j], yj * (new_j - old_j), value, top)
    return False, highest


@exact
def look_again(kernel: Any, sign: Any, weight: Any, ahead: Any) -> None:
    """Compute how far ahead every example is from all weights."""
    blocks, lanes = sign.shape
    ahead[:] = sign
    for i in range(len(kernel)):
        share = sign[i // lanes, i % lanes] * weight[i // lanes, i % lanes]
        if share != 0.0:
            row = kernel[i]
            for b in range(blocks):
                for lane in range(lanes):
                    ahead[b, lane] -= share * row[b, lane]


@exact
def moving(sign: Any, weight: Any, ahead: Any, penalty: float) -> Any:
    """Return which examples are not at rest: free, or not far beyond what would make them move."""
    blocks, lanes = sign.shape
    rising, falling = np.empty((blocks, lanes)), np.empty((blocks, lanes))
    best, least = -np.inf, np.inf
    for b in range(blocks):
        for lane in range(lanes):
            _bounds(b, lane, sign, weight, penalty, rising, falling)
            best = max(best, ahead[b, lane] + rising[b, lane])
            least = min(least, ahead[b, lane] + falling[b, lane])
    moving = np.empty((blocks, lanes), np.bool_)
    for b in range(blocks):
        for lane in range(lanes):
            high = rising[b, lane] == 0.0 or ahead[b, lane] <= best
            moving[b, lane] = high and (falling[b, lane] == 0.0 or ahead[b, lane] >= least)
    return moving


@exact
def _bounds(b: int, lane: int, sign: Any, weight: Any, penalty: float, rising: Any, falling: Any) -> None:
    """Note whether y a of an example may rise (0, else -inf) and whether it may fall (0, else inf)."""
    y, a = sign[b, lane], weight[b, lane]
    rising[b, lane] = 0.0 if (y > 0 and a < penalty) or (y < 0 and a > 0) else -np.inf
    falling[b, lane] = 0.0 if (y > 0 and a > 0) or (y < 0 and a < penalty) else np.inf


@exact
def _advance(
    ahead: Any, rising: Any, one: Any, by_one: float, other: Any, by_other: float, value: Any, top: Any
) -> None:
    """Take off what two examples have gained, and say how far ahead each example is whose y a may rise."""
    blocks, lanes = ahead.shape
    top[:] = -np.inf
    for b in range(blocks):
        for lane in range(lanes):
            ahead[b, lane] -= one[b, lane] * by_one + other[b, lane] * by_other
        for lane in range(lanes):
            value[b, lane] = ahead[b, lane] + rising[b, lane]
        for lane in range(lanes):
            top[lane] = value[b, lane] if value[b, lane] > top[lane] else top[lane]


@exact
def _gains(
    ahead: Any, falling: Any, row: Any, diagonal: Any, own: float, best: float, gain: Any, top: Any, low: Any
) -> float:
    """Say what a step with each example whose y a may fall would gain; return how far ahead the last of them is."""
    blocks, lanes = ahead.shape
    top[:] = -np.inf
    low[:] = np.inf
    for b in range(blocks):
        for lane in range(lanes):
            lead = best - (ahead[b, lane] + falling[b, lane])
            curve = own + diagonal[b, lane] - 2.0 * row[b, lane]
            curve = curve if curve > 0.0 else TINY
            made = lead * lead / curve
            gain[b, lane] = made if lead > 0.0 else -1.0
        for lane in range(lanes):
            top[lane] = gain[b, lane] if gain[b, lane] > top[lane] else top[lane]
        for lane in range(lanes):
            shown = ahead[b, lane] + falling[b, lane]
            low[lane] = shown if shown < low[lane] else low[lane]
    least = np.inf
    for lane in range(lanes):
        least = low[lane] if low[lane] < least else least
    return least


@exact
def _last_of_the_highest(value: Any, top: Any) -> Any:
    """Return where the highest value is, the last place of several, and the value; `top` has the highest per lane."""
    blocks, lanes = value.shape
    highest = -np.inf
    for lane in range(lanes):
        highest = top[lane] if top[lane] > highest else highest
    place = 0
    for lane in range(lanes):
        if top[lane] == highest:
            for b in range(blocks):
                if value[b, lane] == highest:
                    place = max(place, b * lanes + lane)
    return place, highest


@exact
def _within(old_i: float, old_j: float, i: float, j: float, alike: bool, penalty: float) -> Any:
    """Return two weights moved back along their line to where both lie between 0 and the penalty."""
    if alike:
        total = old_i + old_j
        if total > penalty:
            if i > penalty:
                i, j = penalty, total - penalty
            if j > penalty:
                i, j = total - penalty, penalty
        else:
            if j < 0:
                i, j = total, 0.0
            if i < 0:
                i, j = 0.0, total
        return i, j
    difference = old_i - old_j
    if difference > 0:
        if j < 0:
            i, j = difference, 0.0
        if i > penalty:
            i, j = penalty, penalty - difference
    else:
        if i < 0:
            i, j = 0.0, -difference
        if j > penalty:
            i, j = penalty + difference, penalty
    return i, j


@exact
def bias(ahead: Any, sign: Any, weight: Any, penalty: float) -> float:
    """Return what all free examples agree on; where none is free, the middle of what the others allow."""
    blocks, lanes = sign.shape
    total, free, most, least = 0.0, 0, -np.inf, np.inf
    for b in range(blocks):
        for lane in range(lanes):
            if sign[b, lane] == 0:
                continue
            if 0 < weight[b, lane] < penalty:
                total += ahead[b, lane]
                free += 1
            elif (sign[b, lane] > 0) == (weight[b, lane] <= 0):
                most = max(most, ahead[b, lane])
            else:
                least = min(least, ahead[b, lane])
    return total / free if free else (most + least) / 2
