"""Elementwise passes of batch normalisation: normalise, activate, add the residual, and their gradients.

`coeffs` [coefficients, width] holds per-column coefficients; activations are those of the codes below.
"""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.exponential import exponential

RELU, ELU = 1, 2  # any other code is the identity


@compiled
def normalize_rows(activation: int, x: Array, coeffs: Array, out: Array) -> None:
    """out = activation(x * scale + shift) + residual, the same for all rows; coeffs: scale, shift, residual."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                z = x[i, k] * coeffs[0, k] + coeffs[1, k]
                out[i, k] = (zero if z < zero else z) + coeffs[2, k]
        elif activation == ELU:
            for k in range(x.shape[1]):
                z = x[i, k] * coeffs[0, k] + coeffs[1, k]
                out[i, k] = (z if z > zero else exponential(z) - one) + coeffs[2, k]
        else:
            for k in range(x.shape[1]):
                out[i, k] = (x[i, k] * coeffs[0, k] + coeffs[1, k]) + coeffs[2, k]


@compiled
def normalize_rows_add(activation: int, x: Array, coeffs: Array, residual: Array, out: Array) -> None:
    """out = activation(x * scale + shift) + residual, with residual [rows, width]; coeffs: scale, shift."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                z = x[i, k] * coeffs[0, k] + coeffs[1, k]
                out[i, k] = (zero if z < zero else z) + residual[i, k]
        elif activation == ELU:
            for k in range(x.shape[1]):
                z = x[i, k] * coeffs[0, k] + coeffs[1, k]
                out[i, k] = (z if z > zero else exponential(z) - one) + residual[i, k]
        else:
            for k in range(x.shape[1]):
                out[i, k] = (x[i, k] * coeffs[0, k] + coeffs[1, k]) + residual[i, k]


@compiled
def add_gradient_sums(activation: int, grad_output: Array, x: Array, coeffs: Array, sums: Array) -> None:
    """Add the column sums of g and of g * (x - mean), where g is the gradient before the activation, to sums.

    coeffs: scale, shift, mean.
    """
    zero = x.dtype.type(0)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                value, grad = x[i, k], grad_output[i, k]
                grad = zero if value * coeffs[0, k] + coeffs[1, k] <= zero else grad
                sums[0, k] += grad
                sums[1, k] += grad * (value - coeffs[2, k])
        elif activation == ELU:
            for k in range(x.shape[1]):
                value = x[i, k]
                z = value * coeffs[0, k] + coeffs[1, k]
                grad = grad_output[i, k] * exponential(zero if z > zero else z)
                sums[0, k] += grad
                sums[1, k] += grad * (value - coeffs[2, k])
        else:
            for k in range(x.shape[1]):
                grad = grad_output[i, k]
                sums[0, k] += grad
                sums[1, k] += grad * (x[i, k] - coeffs[2, k])


@compiled
def normalize_rows_backward(activation: int, grad_output: Array, x: Array, coeffs: Array, out: Array) -> None:
    """out = scale * g + (slope * x + constant), where g is the gradient before the activation.

    coeffs: scale, shift, slope, constant.
    """
    zero = x.dtype.type(0)
    for i in range(x.shape[0]):
        if activation == RELU:
            for k in range(x.shape[1]):
                value, grad = x[i, k], grad_output[i, k]
                grad = zero if value * coeffs[0, k] + coeffs[1, k] <= zero else grad
                out[i, k] = coeffs[0, k] * grad + (coeffs[2, k] * value + coeffs[3, k])
        elif activation == ELU:
            for k in range(x.shape[1]):
                value = x[i, k]
                z = value * coeffs[0, k] + coeffs[1, k]
                grad = grad_output[i, k] * exponential(zero if z > zero else z)
                out[i, k] = coeffs[0, k] * grad + (coeffs[2, k] * value + coeffs[3, k])
        else:
            for k in range(x.shape[1]):
                out[i, k] = coeffs[0, k] * grad_output[i, k] + (coeffs[2, k] * x[i, k] + coeffs[3, k])
