"""Softmax over the rows of a sparse matrix."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.exponential import exponential

TILE = 64  # rows that a thread takes at a time


@compiled
def softmax(claim: Array, ptr: Array, scores: Array, out: Array) -> None:
    """out = softmax of scores [entries, heads] over the entries of each row, per head."""
    rows, heads = len(ptr) - 1, scores.shape[1]
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            begin, end = ptr[i], ptr[i + 1]
            for h in range(heads):
                if begin == end:
                    continue
                top = scores[begin, h]
                for e in range(begin + 1, end):
                    top = max(top, scores[e, h])
                total = top * 0
                for e in range(begin, end):
                    out[e, h] = exponential(scores[e, h] - top)
                    total += out[e, h]
                for e in range(begin, end):
                    out[e, h] /= total
        first = TILE * next_block(claim)


@compiled
def softmax_backward(claim: Array, ptr: Array, grad_output: Array, probability: Array, out: Array) -> None:
    """out = probability * (grad_output - sum over the row of grad_output * probability)."""
    rows, heads = len(ptr) - 1, grad_output.shape[1]
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            for h in range(heads):
                total = grad_output.dtype.type(0)
                for e in range(ptr[i], ptr[i + 1]):
                    total += grad_output[e, h] * probability[e, h]
                for e in range(ptr[i], ptr[i + 1]):
                    out[e, h] = probability[e, h] * (grad_output[e, h] - total)
        first = TILE * next_block(claim)
