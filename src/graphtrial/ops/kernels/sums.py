"""Weighted sums and maxima over the rows of a sparse matrix."""

from __future__ import annotations

from graphtrial.compiler import Array, compiled


@compiled
def weighted_sum(ptr: Array, index: Array, order: Array, weight: Array, own: Array, x: Array, out: Array) -> None:
    """out[i] = sum over entries e of row i of weight[e] * x[index[e]]; weight [entries], x and out [rows, width].

    With `own` [1], of a square matrix, own * x[i] is added.
    """
    rows, width = out.shape
    for i in range(rows):
        into = out[i]
        if own is None:
            for k in range(width):
                into[k] = 0
        else:
            share, mine = own[0], x[i]
            for k in range(width):
                into[k] = share * mine[k]
        e, end = ptr[i], ptr[i + 1]
        while e + 4 <= end:  # four at a time: the row is loaded and stored a quarter as often
            if order is None:
                w0, w1, w2, w3 = weight[e], weight[e + 1], weight[e + 2], weight[e + 3]
            else:
                w0, w1, w2, w3 = weight[order[e]], weight[order[e + 1]], weight[order[e + 2]], weight[order[e + 3]]
            x0, x1, x2, x3 = x[index[e]], x[index[e + 1]], x[index[e + 2]], x[index[e + 3]]
            for k in range(width):
                into[k] += (w0 * x0[k] + w1 * x1[k]) + (w2 * x2[k] + w3 * x3[k])
            e += 4
        while e < end:
            w = weight[e] if order is None else weight[order[e]]
            x0 = x[index[e]]
            for k in range(width):
                into[k] += w * x0[k]
            e += 1


@compiled
def weighted_sum_heads(ptr: Array, index: Array, order: Array, weight: Array, x: Array, out: Array) -> None:
    """The same for several heads: weight [entries, heads], x and out [rows, heads, width]."""
    rows, heads, width = out.shape
    for i in range(rows):
        out[i] = 0
        for e in range(ptr[i], ptr[i + 1]):
            at = e if order is None else order[e]
            from_row = x[index[e]]
            for h in range(heads):
                w, into, values = weight[at, h], out[i, h], from_row[h]
                for k in range(width):
                    into[k] += w * values[k]


@compiled
def entry_dot(ptr: Array, index: Array, left: Array, right: Array, out: Array) -> None:
    """out[e, h] = left[i, h] . right[index[e], h] for each entry e of row i; left and right [rows, heads, width]."""
    rows, heads, width = left.shape
    for i in range(rows):
        for e in range(ptr[i], ptr[i + 1]):
            j = index[e]
            for h in range(heads):
                a, b = left[i, h], right[j, h]
                total = a[0] * 0
                for k in range(width):
                    total += a[k] * b[k]
                out[e, h] = total


@compiled
def maximum(ptr: Array, index: Array, x: Array, out: Array, winner: Array) -> None:
    """out[i] = elementwise maximum of x over row i, 0 if empty; winner is the column that gave it, -1 for none."""
    rows, width = out.shape
    for i in range(rows):
        begin, end = ptr[i], ptr[i + 1]
        if begin == end:
            out[i] = 0
            winner[i] = -1
            continue
        out[i] = x[index[begin]]
        winner[i] = index[begin]
        for e in range(begin + 1, end):
            j = index[e]
            for k in range(width):
                if x[j, k] > out[i, k]:
                    out[i, k] = x[j, k]
                    winner[i, k] = j


@compiled
def maximum_backward(gradient: Array, winner: Array, out: Array) -> None:
    """Give each gradient to the entry that won; `out` starts as zeros."""
    rows, width = gradient.shape
    for i in range(rows):
        for k in range(width):
            if winner[i, k] >= 0:
                out[winner[i, k], k] += gradient[i, k]
