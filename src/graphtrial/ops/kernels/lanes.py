"""Attention of eight heads at a time, one per lane, written as LLVM vector instructions.

The compiler vectorises long loops only, while attention has few heads. Each operation below works on eight elements of
each flat array, from the given offset. The portable fallback is attention by separate softmax and SpMM kernels
(`ops.attention`): forward and backward of the whole operator on one core, 1.4 times as fast on ZINC, 3.0 on PATTERN,
2.5 on Wiki-CS, 1.3 on CSL (`python -m benchmarks.operators`, AMD, AVX-512).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from graphtrial.ops.kernels.vector import CONTRACT, LANES, intrinsic, load, store

TRANSPOSITIONS = (
    (4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
    (2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
    (1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)),
)
"""Steps of the transposition of 8 x 8 elements: blocks of 4, 2 and 1 columns of rows at that distance change places."""


@intrinsic
def multiply_add(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, groups: Any) -> Any:
    """into[g] += a * b[g] for g < groups, where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, weight, value = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        factor = load(builder, weight)
        with cgutils.for_range(builder, values[6]) as loop:
            at_target, at_value = (builder.gep(p, [loop.index]) for p in (target, value))
            product = builder.fmul(factor, load(builder, at_value), CONTRACT)
            store(builder, builder.fadd(load(builder, at_target), product, CONTRACT), at_target)
        return context.get_dummy_value()

    return flat_signature(into, a, b, 1), generate


@intrinsic
def dot(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, groups: Any) -> Any:
    """into = sum over g < groups of a[g] * b[g], where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = cgutils.alloca_once_value(builder, ir.Constant(target.type.pointee, None))
        with cgutils.for_range(builder, values[6]) as loop:
            pair = (load(builder, builder.gep(p, [loop.index])) for p in (left, right))
            product = builder.fmul(*pair, CONTRACT)
            builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
        store(builder, builder.load(total), target)
        return context.get_dummy_value()

    return flat_signature(into, a, b, 1), generate


@intrinsic
def transpose(typing: Any, into: Any, i: Any, into_step: Any, a: Any, j: Any, a_step: Any) -> Any:
    """into[into_step * c + r] = a[a_step * r + c] for r, c < 8, from the given offsets."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def rows(at: int) -> list[Any]:
            data = context.make_array(signature.args[at])(context, builder, values[at]).data
            steps = (builder.mul(values[at + 2], ir.Constant(values[1].type, row)) for row in range(LANES))
            places = (builder.gep(data, [builder.add(values[at + 1], step)]) for step in steps)
            return [builder.bitcast(place, ir.VectorType(data.type.pointee, LANES).as_pointer()) for place in places]

        def shuffle(x: Any, y: Any, order: tuple[int, ...]) -> Any:
            return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))

        vectors = [load(builder, place) for place in rows(3)]
        for distance, low, high in TRANSPOSITIONS:
            pairs = [(at, at + distance) for at in range(LANES) if not at & distance]
            for x, y in pairs:
                a_row, b_row = vectors[x], vectors[y]
                vectors[x], vectors[y] = shuffle(a_row, b_row, low), shuffle(a_row, b_row, high)
        for vector, place in zip(vectors, rows(0), strict=True):
            store(builder, vector, place)
        return context.get_dummy_value()

    return types.void(into, types.intp, types.intp, a, types.intp, types.intp), generate


@intrinsic
def copy(typing: Any, into: Any, i: Any, a: Any, j: Any) -> Any:
    """into = a."""
    return _in_place(into, a, lambda builder, x, y: y)


@intrinsic
def add(typing: Any, into: Any, i: Any, a: Any, j: Any) -> Any:
    """into += a."""
    return _in_place(into, a, lambda builder, x, y: builder.fadd(x, y))


@intrinsic
def subtract(typing: Any, into: Any, i: Any, a: Any, j: Any) -> Any:
    """into -= a."""
    return _in_place(into, a, lambda builder, x, y: builder.fsub(x, y))


@intrinsic
def multiply(typing: Any, into: Any, i: Any, a: Any, j: Any) -> Any:
    """into *= a."""
    return _in_place(into, a, lambda builder, x, y: builder.fmul(x, y))


@intrinsic
def maximum(typing: Any, into: Any, i: Any, a: Any, j: Any) -> Any:
    """into = max(into, a); NaN in a propagates."""
    return _in_place(into, a, lambda builder, x, y: builder.select(builder.fcmp_ordered("<", y, x), x, y))


@intrinsic
def leaky_relu(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, slope: Any) -> Any:
    """into = leaky_relu(a + b) with negative slope `slope` [8]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = builder.fadd(load(builder, left), load(builder, right))
        factor = _slope(context, builder, signature, values, total)
        store(builder, builder.fmul(total, factor), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp, b, types.intp, slope), generate


@intrinsic
def leaky_relu_backward(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, slope: Any) -> Any:
    """into *= derivative of leaky_relu at a + b, with negative slope `slope` [8]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (vector_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = builder.fadd(load(builder, left), load(builder, right))
        factor = _slope(context, builder, signature, values, total)
        store(builder, builder.fmul(load(builder, target), factor), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp, b, types.intp, slope), generate


def _slope(context: Any, builder: Any, signature: Any, values: Any, total: Any) -> Any:
    array = context.make_array(signature.args[6])(context, builder, values[6])
    slope = load(builder, builder.bitcast(array.data, total.type.as_pointer()))
    ones = ir.Constant(total.type, [1.0] * LANES)
    return builder.select(builder.fcmp_ordered(">", total, ir.Constant(total.type, None)), ones, slope)


def _in_place(into: Any, a: Any, operation: Callable[..., Any]) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, other = (vector_pointer(context, builder, signature, values, at) for at in (0, 2))
        store(builder, operation(builder, load(builder, target), load(builder, other)), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp), generate


def flat_signature(*arguments: Any) -> Any:
    """Return the signature of an operation on arrays, each with an offset, and on so many integers."""
    *arrays, numbers = arguments
    places = [part for array in arrays for part in (array, types.intp)]
    return types.void(*places, *[types.intp] * numbers)


def vector_pointer(context: Any, builder: Any, signature: Any, values: Any, at: int) -> Any:
    """Return the pointer to eight elements of the array that is argument `at`, from its offset."""
    array = context.make_array(signature.args[at])(context, builder, values[at])
    place = builder.gep(array.data, [values[at + 1]])
    return builder.bitcast(place, ir.VectorType(array.data.type.pointee, LANES).as_pointer())
