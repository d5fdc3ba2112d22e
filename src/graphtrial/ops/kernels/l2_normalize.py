"""L2 normalisation of rows."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block
from graphtrial.ops.kernels.dot_product import dot_product

TILE = 256  # rows that a thread takes at a time


@compiled
def l2_normalize(claim: Array, x: Array, epsilon: float, out: Array, scale: Array) -> None:
    """out = x / max(norm, epsilon) for each row; scale [rows] = 1 / max(norm, epsilon)."""
    rows, width = x.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            total = dot_product(x[i], x[i])
            length = np.sqrt(total)
            factor = 1 / (epsilon if length < epsilon else length)
            scale[i] = factor
            for k in range(width):
                out[i, k] = x[i, k] * factor
        first = TILE * next_block(claim)


@compiled
def l2_normalize_backward(
    claim: Array, grad_output: Array, unit: Array, scale: Array, epsilon: float, out: Array
) -> None:
    """out = scale * (grad_output - unit * (grad_output . unit)); scale * grad_output for norms below epsilon."""
    rows, width = unit.shape
    first = TILE * next_block(claim)
    while first < rows:
        for i in range(first, min(rows, first + TILE)):
            total = dot_product(grad_output[i], unit[i])
            factor = scale[i]
            if factor * epsilon >= 1:
                total *= 0
            for k in range(width):
                out[i, k] = factor * (grad_output[i, k] - total * unit[i, k])
        first = TILE * next_block(claim)
