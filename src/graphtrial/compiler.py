"""How kernels are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

Array = Any

compiled: Any = njit(cache=True, boundscheck=False, error_model="numpy", fastmath={"contract"})
"""Compile at first use and keep the result on disk. A product and a sum may be rounded once; no sum is reordered."""

exact: Any = njit(cache=True, boundscheck=False, error_model="numpy")
"""The same, but every product and every sum is rounded by itself, as by compilers that may not join them."""
