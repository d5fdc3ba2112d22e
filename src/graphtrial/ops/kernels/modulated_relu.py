"""ReLU of a modulated signed square root, rounded as by the same functions one after the other."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, exact
from graphtrial.core.hardware.blocks import next_block

TILE = 128  # rows that a thread takes at a time


@exact
def modulated_relu(claim: Array, x: Array, modulation: Array, out: Array) -> None:
    """out = ReLU(sign(s) sqrt(|s|) + b), s = x * w; x, out: [rows, width], modulation: [rows, w and b]. NaN is kept."""
    rows, width = x.shape
    zero = x.dtype.type(0)
    first = TILE * next_block(claim)
    while first < rows:
        for r in range(first, min(rows, first + TILE)):
            values, w, b, into = x[r], modulation[r, :width], modulation[r, width:], out[r]
            for k in range(width):
                s = values[k] * w[k]
                value = np.copysign(np.sqrt(abs(s)), s) + b[k]
                into[k] = zero if value < zero else value
        first = TILE * next_block(claim)


@exact
def modulated_relu_backward(
    claim: Array, grad_output: Array, x: Array, modulation: Array, out: Array, grad_x: Array, grad_modulation: Array
) -> None:
    """Gradients of `modulated_relu`, whose result is `out`; that of the square root is 0 at 0."""
    rows, width = x.shape
    zero, half = x.dtype.type(0), x.dtype.type(0.5)
    first = TILE * next_block(claim)
    while first < rows:
        for r in range(first, min(rows, first + TILE)):
            grad, values, w, active = grad_output[r], x[r], modulation[r, :width], out[r]
            into, grad_w, grad_b = grad_x[r], grad_modulation[r, :width], grad_modulation[r, width:]
            for k in range(width):
                g = zero if active[k] <= zero else grad[k]
                root = np.sqrt(abs(values[k] * w[k]))
                slope = (zero if root == zero else half / root) * g
                grad_b[k] = g
                into[k] = slope * w[k]
                grad_w[k] = slope * values[k]
        first = TILE * next_block(claim)
