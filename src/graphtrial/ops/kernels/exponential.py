"""Exponential, sigmoid and hyperbolic tangent, in a form that the compiler vectorises."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from graphtrial.core.compiler import Array, compiled

F = np.float32
HIGHEST = F(87)  # e^87 and e^-87 are normal numbers in single precision
LOG2_E, LN2_HIGH, LN2_LOW = F(1.44269504), F(0.693359375), F(-2.12194440e-4)
HALF, ONE, TWO = F(0.5), F(1), F(2)
NEAR = F(0.625)
"""Absolute value below which the hyperbolic tangent is a polynomial."""


def exponential(x: Any) -> Any:
    """e^x; in float32 within 2 ulp between -87 and 87, and clamped there."""
    return np.exp(x)


@overload(exponential)
def _exponential(x: Any) -> Any:
    return _single if x == types.float32 else _double


def _double(x: Any) -> Any:
    return np.exp(x)


def _single(x: Any) -> Any:
    # e^x = 2^n e^r with |r| <= ln(2) / 2; e^r is a polynomial fitted for the least relative error (Cephes, Moshier).
    # NaN fails both comparisons and propagates.
    t = HIGHEST if x > HIGHEST else x
    t = -HIGHEST if t < -HIGHEST else t
    n = np.floor(t * LOG2_E + HALF)
    r = t - n * LN2_HIGH - n * LN2_LOW
    p = F(1.9875691500e-4) * r + F(1.3981999507e-3)
    p = p * r + F(8.3334519073e-3)
    p = p * r + F(4.1665795894e-2)
    p = p * r + F(1.6666665459e-1)
    p = p * r + F(5.0000001201e-1)
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return (p * r * r + r + ONE) * power


def hyperbolic_tangent(x: Any) -> Any:
    """tanh x; in float32 within 3 ulp."""
    return np.tanh(x)


@overload(hyperbolic_tangent)
def _hyperbolic_tangent(x: Any) -> Any:
    return _single_tangent if x == types.float32 else _double_tangent


def _double_tangent(x: Any) -> Any:
    return np.tanh(x)


def _single_tangent(x: Any) -> Any:
    # Near 0 by a polynomial (Cephes, Moshier), elsewhere 1 - 2 / (e^2x + 1); both are computed, so that it vectorises.
    z = x * x
    p = F(-5.70498872745e-3) * z + F(2.06390887954e-2)
    p = p * z + F(-5.37397155531e-2)
    p = p * z + F(1.33314422036e-1)
    p = p * z + F(-3.33332819422e-1)
    far = ONE - TWO / (exponential(TWO * x) + ONE)
    return p * z * x + x if abs(x) < NEAR else far


@compiled
def sigmoid(x: Array, out: Array) -> None:
    """out = 1 / (1 + e^-x) for flat arrays."""
    one = x.dtype.type(1)
    for i in range(x.size):
        out[i] = one / (one + exponential(-x[i]))


@compiled
def exponentials(x: Array) -> None:
    """x = e^x in place for a flat array; indices start at 0, so that numba emits no wrap-around checks."""
    for i in range(x.size):
        x[i] = exponential(x[i])


@compiled
def hyperbolic_tangents(x: Array) -> None:
    """x = tanh x in place for a flat array."""
    for i in range(x.size):
        x[i] = hyperbolic_tangent(x[i])
