"""Sum of ReLU over in-neighbours, the aggregation of GINE, without messages in memory."""

from __future__ import annotations

from graphtrial.core.compiler import Array, exact
from graphtrial.core.hardware.blocks import next_block

TILE = 64  # rows that a thread takes at a time


@exact
def relu_sum(
    claim: Array, ptr: Array, index: Array, x: Array, edge: Array, scale: Array, add_self: bool, out: Array
) -> None:
    """out[i] = sum over entries e of row i of scale[j] * relu(x[j] + edge[e]) with j = index[e], plus x[i] if asked.

    x, out: [rows, width]; edge: [entries, width]; scale: [rows], or None for 1. ReLU keeps NaN.
    """
    rows, width = out.shape
    zero, one = x.dtype.type(0), x.dtype.type(1)
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            into, own, begin = out[i], x[i], ptr[i]
            if begin == ptr[i + 1]:
                for k in range(width):
                    into[k] = own[k] if add_self else zero
                continue
            for e in range(begin, ptr[i + 1]):
                a, b = x[index[e]], edge[e]
                s = one if scale is None else scale[index[e]]
                if e == begin:
                    for k in range(width):
                        v = a[k] + b[k]
                        into[k] = (zero if v < zero else v) * s
                else:
                    for k in range(width):
                        v = a[k] + b[k]
                        into[k] += (zero if v < zero else v) * s
            if add_self:
                for k in range(width):
                    into[k] = own[k] + into[k]
        first = TILE * next_block(claim)


@exact
def relu_sum_backward(
    claim: Array,
    ptr: Array,
    order: Array,
    target: Array,
    x: Array,
    edge: Array,
    scale: Array,
    grad_output: Array,
    add: bool,
    grad_x: Array,
    grad_edge: Array,
) -> None:
    """Gradients of x, without that of the row itself, and of edge, added to `grad_edge` if asked.

    `ptr` and `order` are those of out-edges. Each row sums the gradients of its out-edges in their order.
    """
    rows, width = x.shape
    zero, one = x.dtype.type(0), x.dtype.type(1)
    first = TILE * next_block(claim)
    while first < rows:
        for j in range(first, min(rows, first + TILE)):
            into, a = grad_x[j], x[j]
            for k in range(width):
                into[k] = zero
            for at in range(ptr[j], ptr[j + 1]):
                e = order[at]
                b, g, of_edge = edge[e], grad_output[target[e]], grad_edge[e]
                s = one if scale is None else scale[j]
                if add:
                    for k in range(width):
                        v = zero if a[k] + b[k] <= zero else g[k] * s
                        of_edge[k] += v
                        into[k] += v
                else:
                    for k in range(width):
                        v = zero if a[k] + b[k] <= zero else g[k] * s
                        of_edge[k] = v
                        into[k] += v
        first = TILE * next_block(claim)
