"""Layers of the MLPs on node pairs: matrix products of blocks of rows with what follows them, while in the cache."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.matmul import ROWS, matmul_rows, pack
from graphtrial.ops.kernels.vector import LANES


@compiled
def linear_relu(claim: Array, x: Array, weight: Array, bias: Array, out: Array) -> None:
    """out[s] = ReLU(x[s] @ weight[s].T + bias[s]) for both MLPs s; x: [2, rows, inputs], or [1, ...] for both."""
    rows, inputs = x.shape[1:]
    columns = out.shape[2]
    blocks = max(1, rows // ROWS)
    number = next_block(claim)
    if number >= blocks:
        return
    packed = _pack_all(weight, True, inputs, columns)
    while number < blocks:
        first, last = number * ROWS, rows if number == blocks - 1 else (number + 1) * ROWS
        for s in range(2):
            matmul_rows(x[min(s, len(x) - 1)], packed[s], bias[s], out[s], first, last, None)
            for r in range(first, last):
                for c in range(columns):
                    out[s, r, c] = out.dtype.type(0) if out[s, r, c] <= 0 else out[s, r, c]  # NaN stays
        number = next_block(claim)


@compiled
def linear_relu_backward(claim: Array, grad: Array, weight: Array, activation: Array, out: Array) -> None:
    """out[s] = grad[s] @ weight[s] where the activation of the layer before is positive, for both MLPs s."""
    rows, columns = out.shape[1:]
    blocks = max(1, rows // ROWS)
    number = next_block(claim)
    if number >= blocks:
        return
    packed = _pack_all(weight, False, grad.shape[2], columns)
    while number < blocks:
        first, last = number * ROWS, rows if number == blocks - 1 else (number + 1) * ROWS
        for s in range(2):
            matmul_rows(grad[s], packed[s], None, out[s], first, last, None)
            for r in range(first, last):
                for c in range(columns):
                    out[s, r, c] = out[s, r, c] if activation[s, r, c] > 0 else out.dtype.type(0)
        number = next_block(claim)


@compiled
def sum_of_products(
    claim: Array, terms: tuple[Array, ...], weight: Array, transposed: bool, bias: Array, out: Array
) -> None:
    """out = sum over t of terms[t] @ weight[t] (or weight[t].T if `transposed`) + bias, which may be None."""
    rows, columns = out.shape
    blocks = max(1, rows // ROWS)
    number = next_block(claim)
    if number >= blocks:
        return
    packed = _pack_all(weight, transposed, terms[0].shape[1], columns)
    term = np.empty((min(rows, 2 * ROWS), columns), out.dtype)
    while number < blocks:
        first, last = number * ROWS, rows if number == blocks - 1 else (number + 1) * ROWS
        matmul_rows(terms[0], packed[0], bias, out, first, last, None)
        for t in range(1, len(terms)):
            matmul_rows(terms[t][first:last], packed[t], None, term, 0, last - first, None)
            for r in range(last - first):
                for c in range(columns):
                    out[first + r, c] += term[r, c]
        number = next_block(claim)


@compiled
def nonzero_rows(grad: Array, out: Array) -> int:
    """Write the numbers of the rows with a nonzero element to `out`, and return how many there are."""
    count = 0
    for r in range(len(grad)):
        for c in range(grad.shape[1]):
            if grad[r, c] != 0:
                out[count] = r
                count += 1
                break
    return count


@compiled
def _pack_all(weight: Array, transposed: bool, inner: int, columns: int) -> Array:
    packed = np.empty((len(weight), inner * (columns + 2 * LANES)), weight.dtype)
    for s in range(len(weight)):
        pack(weight[s], transposed, inner, columns, packed[s])
    return packed
