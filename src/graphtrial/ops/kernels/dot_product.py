"""Dot product of two short vectors."""

from __future__ import annotations

from graphtrial.core.compiler import Array, reordered


@reordered
def dot_product(a: Array, b: Array) -> float:
    """Return the dot product, summed in any order, so that the compiler vectorises it."""
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    result: float = total
    return result
