"""Dispatch of compiled kernels: vector instructions, or the portable fallback."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_forced: bool | None = None


def has_vectors() -> bool:
    """Return whether kernels written as vector instructions are used: where the processor has registers for them."""
    return _has_registers() if _forced is None else _forced


# As `torch.compiler.assume_constant_result` does, which imports the compiler: a second for every process.
has_vectors._dynamo_marked_constant = True  # type: ignore[attr-defined]


@contextmanager
def force_vectors(use: bool) -> Iterator[None]:
    """Use vector instructions, or their portable fallbacks, inside the block, on any processor."""
    global _forced
    before, _forced = _forced, use
    try:
        yield
    finally:
        _forced = before


@cache
def _has_registers() -> bool:
    """Return whether twelve vectors of eight numbers, a register tile, fit into registers.

    LLVM compiles such vectors for any processor; those that do not fit are spilled. x86 has 16 registers of 256 bits
    with AVX2 and 32 with AVX-512, 64-bit ARM has 32 of 128 bits.
    """
    if platform.machine().lower() in ("aarch64", "arm64"):
        return True
    from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]

    features = get_host_cpu_features()
    return bool(features.get("avx2") and features.get("fma"))
