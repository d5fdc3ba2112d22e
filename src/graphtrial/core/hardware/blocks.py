"""Partition of the rows of compiled kernels into blocks for threads (see `graphtrial.core.hardware.threads`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic as typed_intrinsic

intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = typed_intrinsic


@intrinsic
def next_block(typing: Any, claim: Any) -> Any:
    """Return claim[0], the number of the next block, and add 1 to it, atomically."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.atomic_rmw("add", place, ir.Constant(place.type.pointee, 1), "monotonic")

    return types.intp(claim), generate
