"""Building blocks of kernels written as LLVM vector instructions: vectors of eight lanes, on any processor.

LLVM maps them to registers: one of 256 bits with AVX2 and AVX-512, two of 128 bits on ARM (NEON) and older x86. Tiles
of matrix products have vectors of 16 lanes with AVX-512.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core.registry import cpu_target
from numba.extending import intrinsic as typed_intrinsic

intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = typed_intrinsic
LANES = 8
CONTRACT = ("contract",)


def broadcast(builder: Any, number: Any, vector: Any) -> Any:
    """Broadcast a scalar to all lanes."""
    index, nothing = ir.IntType(32), ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(index, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(index, vector.count), [0] * vector.count))


def load(builder: Any, pointer: Any) -> Any:
    return builder.load(pointer, align=4)


def store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, pointer, align=4)


def has_wide_registers() -> bool:
    """Return whether numba compiles for 32 registers of 512 bits (AVX-512)."""
    features: str = cpu_target.target_context.codegen().magic_tuple()[2]
    return "+avx512f" in features.split(",")
