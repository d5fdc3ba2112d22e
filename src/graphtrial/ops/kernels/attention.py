"""Softmax over the rows of a sparse matrix."""

from __future__ import annotations

import numpy as np

from graphtrial.compiler import Array, compiled


@compiled
def softmax(ptr: Array, scores: Array, out: Array) -> None:
    """out = softmax of scores [entries, heads] over the entries of each row, head by head."""
    heads = scores.shape[1]
    for i in range(len(ptr) - 1):
        begin, end = ptr[i], ptr[i + 1]
        for h in range(heads):
            if begin == end:
                continue
            top = scores[begin, h]
            for e in range(begin + 1, end):
                top = max(top, scores[e, h])
            total = top * 0
            for e in range(begin, end):
                out[e, h] = np.exp(scores[e, h] - top)
                total += out[e, h]
            for e in range(begin, end):
                out[e, h] /= total


@compiled
def softmax_backward(ptr: Array, gradient: Array, probability: Array, out: Array) -> None:
    """out = probability * (gradient - sum over the row of gradient * probability)."""
    heads = gradient.shape[1]
    for i in range(len(ptr) - 1):
        for h in range(heads):
            total = gradient.dtype.type(0)
            for e in range(ptr[i], ptr[i + 1]):
                total += gradient[e, h] * probability[e, h]
            for e in range(ptr[i], ptr[i + 1]):
                out[e, h] = probability[e, h] * (gradient[e, h] - total)
