"""Compiled SMO iterations.

Arrays over examples have shape [blocks, LANES], padded with examples of sign 0, so that the inner loops become SIMD
instructions; for this each inner loop writes to one array only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtrial.core.compiler import exact

LANES = 128
TOLERANCE = 1e-3
"""Stopping tolerance of the maximal KKT violation, LIBSVM's default."""
TAU = 1e-12
"""Replaces a curvature that is not positive (LIBSVM's tau)."""


@exact
def submatrix(matrix: Any, ids: Any) -> Any:
    """Return `matrix[ids][:, ids]` in single precision, its columns padded to a multiple of LANES."""
    result = np.zeros((len(ids), (len(ids) + LANES - 1) // LANES * LANES), np.float32)
    for row in range(len(ids)):
        for column in range(len(ids)):
            result[row, column] = matrix[ids[row], ids[column]]
    return result


@exact
def run(kernel: Any, diagonal: Any, sign: Any, alpha: Any, neg_y_grad: Any, penalty: float, steps: int) -> Any:
    """Run up to `steps` SMO iterations; return whether it converged, and the largest multiplier on the way."""
    blocks, lanes = sign.shape
    up, down = np.empty((blocks, lanes)), np.empty((blocks, lanes))
    value, gain, top, low = np.empty((blocks, lanes)), np.empty((blocks, lanes)), np.empty(lanes), np.empty(lanes)
    for b in range(blocks):
        for lane in range(lanes):
            _bounds(b, lane, sign, alpha, penalty, up, down)
    highest = 0.0
    nothing = kernel[0]
    _advance(neg_y_grad, up, nothing, 0.0, nothing, 0.0, value, top)
    for _ in range(steps):
        i, best = _last_argmax(value, top)
        bi, li = i // lanes, i % lanes
        row = kernel[i]
        least = _gains(neg_y_grad, down, row, diagonal, diagonal[bi, li], best, gain, top, low)
        if best - least < TOLERANCE:
            return True, highest
        j = _last_argmax(gain, top)[0]
        bj, lj = j // lanes, j % lanes
        curve = diagonal[bi, li] + diagonal[bj, lj] - 2.0 * row[bj, lj]
        step = (neg_y_grad[bi, li] - neg_y_grad[bj, lj]) / (curve if curve > 0.0 else TAU)
        old_i, old_j = alpha[bi, li], alpha[bj, lj]
        yi, yj = sign[bi, li], sign[bj, lj]
        new_i, new_j = _clip(old_i, old_j, old_i + yi * step, old_j - yj * step, yi == yj, penalty)
        alpha[bi, li], alpha[bj, lj] = new_i, new_j
        highest = max(highest, new_i, new_j)
        _bounds(bi, li, sign, alpha, penalty, up, down)
        _bounds(bj, lj, sign, alpha, penalty, up, down)
        _advance(neg_y_grad, up, row, yi * (new_i - old_i), kernel[j], yj * (new_j - old_j), value, top)
    return False, highest


@exact
def reconstruct_gradient(kernel: Any, sign: Any, alpha: Any, neg_y_grad: Any) -> None:
    """Recompute `neg_y_grad` of all examples from the multipliers."""
    blocks, lanes = sign.shape
    neg_y_grad[:] = sign
    for i in range(len(kernel)):
        coef = sign[i // lanes, i % lanes] * alpha[i // lanes, i % lanes]
        if coef != 0.0:
            row = kernel[i]
            for b in range(blocks):
                for lane in range(lanes):
                    neg_y_grad[b, lane] -= coef * row[b, lane]


@exact
def active_set(sign: Any, alpha: Any, neg_y_grad: Any, penalty: float) -> Any:
    """Return the mask of examples not to shrink: free, or at a bound and close to violating the KKT conditions."""
    blocks, lanes = sign.shape
    up, down = np.empty((blocks, lanes)), np.empty((blocks, lanes))
    best, least = -np.inf, np.inf
    for b in range(blocks):
        for lane in range(lanes):
            _bounds(b, lane, sign, alpha, penalty, up, down)
            best = max(best, neg_y_grad[b, lane] + up[b, lane])
            least = min(least, neg_y_grad[b, lane] + down[b, lane])
    active = np.empty((blocks, lanes), np.bool_)
    for b in range(blocks):
        for lane in range(lanes):
            high = up[b, lane] == 0.0 or neg_y_grad[b, lane] <= best
            active[b, lane] = high and (down[b, lane] == 0.0 or neg_y_grad[b, lane] >= least)
    return active


@exact
def _bounds(b: int, lane: int, sign: Any, alpha: Any, penalty: float, up: Any, down: Any) -> None:
    """Update the additive masks of an example: `up` is 0 in I_up, else -inf; `down` is 0 in I_low, else inf."""
    y, a = sign[b, lane], alpha[b, lane]
    up[b, lane] = 0.0 if (y > 0 and a < penalty) or (y < 0 and a > 0) else -np.inf
    down[b, lane] = 0.0 if (y > 0 and a > 0) or (y < 0 and a < penalty) else np.inf


@exact
def _advance(
    neg_y_grad: Any, up: Any, one: Any, by_one: float, other: Any, by_other: float, value: Any, top: Any
) -> None:
    """Update the gradient after changing two multipliers, and `value` = neg_y_grad over I_up with maxima per lane."""
    blocks, lanes = neg_y_grad.shape
    top[:] = -np.inf
    for b in range(blocks):
        for lane in range(lanes):
            neg_y_grad[b, lane] -= one[b, lane] * by_one + other[b, lane] * by_other
        for lane in range(lanes):
            value[b, lane] = neg_y_grad[b, lane] + up[b, lane]
        for lane in range(lanes):
            top[lane] = value[b, lane] if value[b, lane] > top[lane] else top[lane]


@exact
def _gains(
    neg_y_grad: Any, down: Any, row: Any, diagonal: Any, own: float, best: float, gain: Any, top: Any, low: Any
) -> float:
    """Second-order gain of pairing with each example of I_low (WSS 2); return the minimum of neg_y_grad over I_low."""
    blocks, lanes = neg_y_grad.shape
    top[:] = -np.inf
    low[:] = np.inf
    for b in range(blocks):
        for lane in range(lanes):
            lead = best - (neg_y_grad[b, lane] + down[b, lane])
            curve = own + diagonal[b, lane] - 2.0 * row[b, lane]
            curve = curve if curve > 0.0 else TAU
            decrease = lead * lead / curve
            gain[b, lane] = decrease if lead > 0.0 else -1.0
        for lane in range(lanes):
            top[lane] = gain[b, lane] if gain[b, lane] > top[lane] else top[lane]
        for lane in range(lanes):
            candidate = neg_y_grad[b, lane] + down[b, lane]
            low[lane] = candidate if candidate < low[lane] else low[lane]
    least = np.inf
    for lane in range(lanes):
        least = low[lane] if low[lane] < least else least
    return least


@exact
def _last_argmax(value: Any, top: Any) -> Any:
    """Return the last index of the maximum, and the maximum; `top` holds the maximum of each lane."""
    blocks, lanes = value.shape
    highest = -np.inf
    for lane in range(lanes):
        highest = top[lane] if top[lane] > highest else highest
    index = 0
    for lane in range(lanes):
        if top[lane] == highest:
            for b in range(blocks):
                if value[b, lane] == highest:
                    index = max(index, b * lanes + lane)
    return index, highest


@exact
def _clip(old_i: float, old_j: float, i: float, j: float, alike: bool, penalty: float) -> Any:
    """Clip two multipliers to the box [0, C] along the line of the equality constraint."""
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
def bias(neg_y_grad: Any, sign: Any, alpha: Any, penalty: float) -> float:
    """Return the mean of neg_y_grad over free examples; without free ones the midpoint of the feasible interval."""
    blocks, lanes = sign.shape
    total, free, most, least = 0.0, 0, -np.inf, np.inf
    for b in range(blocks):
        for lane in range(lanes):
            if sign[b, lane] == 0:
                continue
            if 0 < alpha[b, lane] < penalty:
                total += neg_y_grad[b, lane]
                free += 1
            elif (sign[b, lane] > 0) == (alpha[b, lane] <= 0):
                most = max(most, neg_y_grad[b, lane])
            else:
                least = min(least, neg_y_grad[b, lane])
    return total / free if free else (most + least) / 2
