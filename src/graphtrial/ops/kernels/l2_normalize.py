"""L2 normalisation of rows."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.simd import LANES, inner_product


@compiled
def l2_normalize(x: Array, epsilon: float, out: Array, scale: Array) -> None:
    """out = x / max(norm, epsilon) for each row; scale [rows] = 1 / max(norm, epsilon)."""
    rows, width = x.shape
    groups = width // LANES
    flat = x.reshape(-1)
    for i in range(rows):
        total = inner_product(flat, i * width, flat, i * width, groups)
        for k in range(groups * LANES, width):
            total += x[i, k] * x[i, k]
        length = np.sqrt(total)
        factor = 1 / (epsilon if length < epsilon else length)
        scale[i] = factor
        for k in range(width):
            out[i, k] = x[i, k] * factor


@compiled
def l2_normalize_backward(grad_output: Array, unit: Array, scale: Array, epsilon: float, out: Array) -> None:
    """out = scale * (grad_output - unit * (grad_output . unit)); scale * grad_output for norms below epsilon."""
    rows, width = unit.shape
    groups = width // LANES
    flat_grad, flat_unit = grad_output.reshape(-1), unit.reshape(-1)
    for i in range(rows):
        total = inner_product(flat_grad, i * width, flat_unit, i * width, groups)
        for k in range(groups * LANES, width):
            total += grad_output[i, k] * unit[i, k]
        factor = scale[i]
        if factor * epsilon >= 1:
            total *= 0
        for k in range(width):
            out[i, k] = factor * (grad_output[i, k] - total * unit[i, k])
