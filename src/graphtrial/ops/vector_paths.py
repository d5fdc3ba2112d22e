"""Which implementation of a compiled kernel runs: vector instructions, or its portable twin."""

from __future__ import annotations

import os
import platform
from functools import cache

VARIABLE = "GRAPHTRIAL_VECTORS"
"""Environment variable that forces one of the paths: 1 vector instructions, 0 the portable twins."""


@cache
def has_vectors() -> bool:
    """Return whether kernels written as vector instructions are faster here than their portable twins.

    LLVM splits a vector of eight lanes for any processor, so that they run everywhere; but a register tile has twelve
    of them, which needs registers: 16 of 256 bits with fused multiply-add on x86 (AVX2, and AVX-512 as well), or 32 of
    128 bits on 64-bit ARM.
    """
    forced = os.environ.get(VARIABLE)
    if forced is not None:
        return forced != "0"
    if platform.machine().lower() in ("aarch64", "arm64"):
        return True
    from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]

    features = get_host_cpu_features()
    return bool(features.get("avx2") and features.get("fma"))
