"""Vector instructions of attention with clamped exponentials, on eight elements of flat arrays as in `lanes`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from graphtrial.ops.kernels.lanes import flat_signature, vector_pointer
from graphtrial.ops.kernels.vector import CONTRACT, LANES, intrinsic, load, store


@intrinsic
def dot3(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, c: Any, at: Any, groups: Any) -> Any:
    """into = sum over g < groups of a[g] * b[g] * c[g], where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, *factors = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4, 6))
        total = cgutils.alloca_once_value(builder, ir.Constant(target.type.pointee, None))
        with cgutils.for_range(builder, values[8]) as loop:
            x, y, z = (load(builder, builder.gep(factor, [loop.index])) for factor in factors)
            product = builder.fmul(builder.fmul(x, y), z, CONTRACT)
            builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
        store(builder, builder.load(total), target)
        return context.get_dummy_value()

    return flat_signature(into, a, b, c, 1), generate


@intrinsic
def multiply_add3(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, c: Any, at: Any, groups: Any) -> Any:
    """into[g] += a * b[g] * c[g] for g < groups, where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, weight, *factors = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4, 6))
        x = load(builder, weight)
        with cgutils.for_range(builder, values[8]) as loop:
            y, z = (load(builder, builder.gep(factor, [loop.index])) for factor in factors)
            place = builder.gep(target, [loop.index])
            product = builder.fmul(builder.fmul(x, y), z, CONTRACT)
            store(builder, builder.fadd(load(builder, place), product, CONTRACT), place)
        return context.get_dummy_value()

    return flat_signature(into, a, b, c, 1), generate


@intrinsic
def multiply3(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, c: Any, at: Any, groups: Any) -> Any:
    """into[g] = a * b[g] * c[g] for g < groups, where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, weight, *factors = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4, 6))
        x = load(builder, weight)
        with cgutils.for_range(builder, values[8]) as loop:
            y, z = (load(builder, builder.gep(factor, [loop.index])) for factor in factors)
            store(builder, builder.fmul(builder.fmul(x, y), z), builder.gep(target, [loop.index]))
        return context.get_dummy_value()

    return flat_signature(into, a, b, c, 1), generate


@intrinsic
def sum_vectors(typing: Any, into: Any, i: Any, a: Any, j: Any, count: Any) -> Any:
    """into = sum over r < count of a[r], where each row is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, rows = (vector_pointer(context, builder, signature, values, at) for at in (0, 2))
        total = cgutils.alloca_once_value(builder, ir.Constant(target.type.pointee, None))
        with cgutils.for_range(builder, values[4]) as loop:
            row = load(builder, builder.gep(rows, [loop.index]))
            builder.store(builder.fadd(builder.load(total), row), total)
        store(builder, builder.load(total), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp, types.intp), generate


@intrinsic
def clamped_gradient(
    typing: Any, into: Any, i: Any, weight: Any, j: Any, more: Any, k: Any, x: Any, at: Any, bound: Any
) -> Any:
    """into = (into + more) * weight where |x| <= bound, else 0; bound [8]. The gradient of exp(clamp(x)) = weight."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, factor, other, logits = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4, 6))
        array = context.make_array(signature.args[8])(context, builder, values[8])
        high = load(builder, builder.bitcast(array.data, target.type))
        s, zero = load(builder, logits), ir.Constant(target.type.pointee, None)
        grad = builder.fmul(builder.fadd(load(builder, target), load(builder, other)), load(builder, factor))
        outside = builder.or_(
            builder.fcmp_ordered(">", s, high), builder.fcmp_ordered("<", s, builder.fsub(zero, high))
        )
        store(builder, builder.select(outside, zero, grad), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, weight, types.intp, more, types.intp, x, types.intp, bound), generate


def _fold(distance: int) -> Any:
    order = [lane ^ distance for lane in range(LANES)]

    @intrinsic
    def fold(typing: Any, into: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = vector_pointer(context, builder, signature, values, 0)
            x = load(builder, place)
            other = builder.shuffle_vector(x, x, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))
            store(builder, builder.fadd(x, other), place)
            return context.get_dummy_value()

        return types.void(into, types.intp), generate

    return fold


fold4, fold2, fold1 = (_fold(distance) for distance in (4, 2, 1))
"""into += into, with the lanes at that distance changing places."""
