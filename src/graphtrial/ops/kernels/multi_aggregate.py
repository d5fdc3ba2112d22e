"""Several aggregators of the messages of a neighbourhood in one pass, without messages in memory."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, exact
from graphtrial.core.hardware.blocks import next_block

TILE = 32  # rows that a thread takes at a time
MEAN, SUM, MAX, MIN, STD = 0, 1, 2, 3, 4
BASE = 8
"""An aggregator `a` at position p has the digit p + 1 at BASE ** a of `layout`; 0 where it is absent."""


@exact
def place_of(layout: int, aggregator: int) -> int:
    """Return the position of an aggregator, -1 where it is absent."""
    place: int = layout // BASE**aggregator % BASE - 1
    return place


@exact
def _message(sent: Array, own: Array, edge: Array, e: int, out: Array) -> None:
    if edge is None:
        for k in range(len(out)):
            out[k] = sent[k] + own[k]
    else:
        of_edge = edge[e]
        for k in range(len(out)):
            out[k] = sent[k] + own[k] + of_edge[k]


@exact
def multi_aggregate(
    claim: Array, ptr: Array, index: Array, sent: Array, own: Array, edge: Array, layout: int, eps: float, out: Array
) -> None:
    """Aggregate the messages sent[j] + own[i] + edge[e] of the in-edges e of each row i, j = index[e].

    sent, own: [rows, towers, width]; edge: [edges, towers * width] or None; out: [rows, towers, aggregators, width],
    the aggregators at the places of `layout`. Rows without in-edges get 0.
    """
    rows, towers, _, width = out.shape
    channels, zero = towers * width, sent.dtype.type(0)
    buffers = np.empty((5, channels), sent.dtype)
    total, square, high, low, m = buffers[0], buffers[1], buffers[2], buffers[3], buffers[4]
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            begin, end = ptr[i], ptr[i + 1]
            if begin == end:
                out[i] = zero
                continue
            target = own[i].reshape(-1)
            for e in range(begin, end):
                _message(sent[index[e]].reshape(-1), target, edge, e, m)
                if e == begin:
                    total[:] = m
                    high[:] = m
                    low[:] = m
                    for k in range(channels):
                        square[k] = m[k] * m[k]
                    continue
                for k in range(channels):  # one loop per sum: the compiler vectorises loops over few arrays
                    total[k] += m[k]
                for k in range(channels):
                    square[k] += m[k] * m[k]
                for k in range(channels):
                    high[k] = m[k] if m[k] > high[k] or m[k] != m[k] else high[k]  # NaN is kept
                for k in range(channels):
                    low[k] = m[k] if m[k] < low[k] or m[k] != m[k] else low[k]
            _write(end - begin, layout, eps, total, square, high, low, out[i])
        first = TILE * next_block(claim)


@exact
def _write(
    count: int, layout: int, eps: float, total: Array, square: Array, high: Array, low: Array, out: Array
) -> None:
    towers, _, width = out.shape
    zero, inverse, small = total.dtype.type(0), total.dtype.type(1) / total.dtype.type(count), total.dtype.type(eps)
    mean, add, most, least, std = (
        place_of(layout, MEAN), place_of(layout, SUM), place_of(layout, MAX), place_of(layout, MIN),
        place_of(layout, STD),
    )  # fmt: skip
    for t in range(towers):  # one loop per aggregator, which the compiler vectorises
        first = t * width
        if mean >= 0:
            into = out[t, mean]
            for c in range(width):
                into[c] = total[first + c] * inverse
        if add >= 0:
            out[t, add] = total[first : first + width]
        if most >= 0:
            out[t, most] = high[first : first + width]
        if least >= 0:
            out[t, least] = low[first : first + width]
        if std >= 0:
            into = out[t, std]
            for c in range(width):
                average = total[first + c] * inverse
                variance = square[first + c] * inverse - average * average
                into[c] = np.sqrt((variance if variance > zero else zero) + small)


@exact
def multi_aggregate_backward(
    claim: Array,
    ptr: Array,
    index: Array,
    sent: Array,
    own: Array,
    edge: Array,
    layout: int,
    eps: float,
    out: Array,
    grad_output: Array,
    grad_message: Array,
    grad_own: Array,
) -> None:
    """Gradients of the messages, [edges, towers * width], and their sums over the in-edges of each row.

    Of several equal maxima or minima the first has the gradient.
    """
    rows, towers, _, width = out.shape
    channels, zero = towers * width, sent.dtype.type(0)
    buffers = np.empty((8, channels), sent.dtype)
    constant, factor, mean, m = buffers[0], buffers[1], buffers[2], buffers[3]
    high, low, of_high, of_low = buffers[4], buffers[5], buffers[6], buffers[7]
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            begin, end = ptr[i], ptr[i + 1]
            into = grad_own[i].reshape(-1)
            into[:] = zero
            if begin == end:
                continue
            _coefficients(
                end - begin, layout, eps, out[i], grad_output[i], constant, factor, mean, high, low, of_high, of_low
            )
            target = own[i].reshape(-1)
            for e in range(begin, end):
                _message(sent[index[e]].reshape(-1), target, edge, e, m)
                g = grad_message[e]
                for k in range(channels):
                    g[k] = constant[k] + factor[k] * (m[k] - mean[k])
                _add_at_first(m, high, of_high, g)
                _add_at_first(m, low, of_low, g)
                for k in range(channels):
                    into[k] += g[k]
        first = TILE * next_block(claim)


@exact
def _add_at_first(m: Array, extremum: Array, gradient: Array, g: Array) -> None:
    """Add the gradient of an extremum where a message is equal to it, and set it to 0 there."""
    zero = m.dtype.type(0)
    for k in range(len(m)):
        is_first = m[k] == extremum[k]
        g[k] += gradient[k] if is_first else zero
        gradient[k] = zero if is_first else gradient[k]


@exact
def _coefficients(
    count: int,
    layout: int,
    eps: float,
    out: Array,
    g: Array,
    constant: Array,
    factor: Array,
    mean: Array,
    high: Array,
    low: Array,
    of_high: Array,
    of_low: Array,
) -> None:
    """Gradient of a message m: constant + factor * (m - mean), plus of_high and of_low at the first extrema."""
    towers, _, width = out.shape
    zero, inverse = out.dtype.type(0), out.dtype.type(1) / out.dtype.type(count)
    least_std = np.sqrt(out.dtype.type(eps))
    at_mean, at_sum, at_max, at_min, at_std = (
        place_of(layout, MEAN), place_of(layout, SUM), place_of(layout, MAX), place_of(layout, MIN),
        place_of(layout, STD),
    )  # fmt: skip
    constant[:] = zero
    factor[:] = zero
    mean[:] = zero
    of_high[:] = zero
    of_low[:] = zero
    for t in range(towers):
        first, last = t * width, (t + 1) * width
        if at_mean >= 0:
            into, values = constant[first:last], g[t, at_mean]
            for c in range(width):
                into[c] = values[c] * inverse
        if at_sum >= 0:
            into, values = constant[first:last], g[t, at_sum]
            for c in range(width):
                into[c] += values[c]
        if at_std >= 0:
            mean[first:last] = out[t, at_mean]
            into, values, std = factor[first:last], g[t, at_std], out[t, at_std]
            for c in range(width):
                into[c] = values[c] * inverse / std[c] if std[c] > least_std else zero
        if at_max >= 0:
            high[first:last], of_high[first:last] = out[t, at_max], g[t, at_max]
        if at_min >= 0:
            low[first:last], of_low[first:last] = out[t, at_min], g[t, at_min]
