"""SIMD operations on eight lanes, written as LLVM vector instructions.

The compiler vectorises long loops only, while attention has few heads: eight of them are interleaved as SIMD lanes. Nor
does it keep the sum of a row in registers across the entries of the row. Each operation below works on eight elements
of each flat array, from the given offset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as typed_intrinsic

intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = typed_intrinsic
LANES = 8
CONTRACT = ("contract",)


@intrinsic
def multiply_add(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, groups: Any) -> Any:
    """into[g] += a * b[g] for g < groups, where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, weight, value = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        factor = load(builder, weight)
        with cgutils.for_range(builder, values[6]) as loop:
            at_target, at_value = (builder.gep(p, [loop.index]) for p in (target, value))
            product = builder.fmul(factor, load(builder, at_value), CONTRACT)
            store(builder, builder.fadd(load(builder, at_target), product, CONTRACT), at_target)
        return context.get_dummy_value()

    return _signature(into, a, b, 1), generate


@intrinsic
def dot(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, groups: Any) -> Any:
    """into = sum over g < groups of a[g] * b[g], where each group is eight consecutive elements."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = cgutils.alloca_once_value(builder, ir.Constant(target.type.pointee, None))
        with cgutils.for_range(builder, values[6]) as loop:
            pair = (load(builder, builder.gep(p, [loop.index])) for p in (left, right))
            product = builder.fmul(*pair, CONTRACT)
            builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
        store(builder, builder.load(total), target)
        return context.get_dummy_value()

    return _signature(into, a, b, 1), generate


@intrinsic
def inner_product(typing: Any, a: Any, i: Any, b: Any, j: Any, groups: Any) -> Any:
    """Return the dot product of a and b over 8 * groups elements, summed per lane and then over lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2))
        total = cgutils.alloca_once_value(builder, ir.Constant(left.type.pointee, None))
        with cgutils.for_range(builder, values[4]) as loop:
            pair = (load(builder, builder.gep(p, [loop.index])) for p in (left, right))
            builder.store(builder.fadd(builder.load(total), builder.fmul(*pair, CONTRACT), CONTRACT), total)
        lanes = builder.load(total)
        parts = [builder.extract_element(lanes, ir.Constant(ir.IntType(32), at)) for at in range(LANES)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [builder.fadd(x, y) for x, y in zip(parts[:half], parts[half:], strict=True)]
        return parts[0]

    return a.dtype(a, types.intp, b, types.intp, types.intp), generate


def _row_sum(vectors: int) -> Any:
    @intrinsic
    def row_sum(
        typing: Any,
        out: Any,
        row: Any,
        x: Any,
        width: Any,
        column: Any,
        index: Any,
        perm: Any,
        weight: Any,
        weight_at: Any,
        weight_step: Any,
        begin: Any,
        end: Any,
        self_weight: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            def data(at: int) -> Any:
                return context.make_array(signature.args[at])(context, builder, values[at]).data

            def pieces(array: Any, number: Any) -> list[Any]:
                start = builder.gep(array, [builder.add(builder.mul(number, values[3]), values[4])])
                first = builder.bitcast(start, ir.VectorType(array.type.pointee, LANES).as_pointer())
                return [builder.gep(first, [ir.Constant(values[1].type, at)]) for at in range(vectors)]

            target, source = pieces(data(0), values[1]), data(2)
            vector = target[0].type.pointee
            mine = ir.Constant(vector, None)
            totals = [cgutils.alloca_once_value(builder, mine) for _ in range(vectors)]
            if self_weight is not types.none:
                factor = broadcast(builder, builder.load(data(12)), vector)
                for total, piece in zip(totals, pieces(source, values[1]), strict=True):
                    builder.store(builder.fmul(factor, load(builder, piece)), total)
            one = ir.Constant(values[10].type, 1)
            with cgutils.for_range_slice(builder, values[10], values[11], one, inc=True) as (entry, _):
                at = entry if perm is types.none else builder.load(builder.gep(data(6), [entry]))
                place = builder.add(builder.mul(at, values[9]), values[8])
                factor = broadcast(builder, builder.load(builder.gep(data(7), [place])), vector)
                column = builder.load(builder.gep(data(5), [entry]))
                for total, piece in zip(totals, pieces(source, column), strict=True):
                    product = builder.fmul(factor, load(builder, piece), CONTRACT)
                    builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
            for total, piece in zip(totals, target, strict=True):
                store(builder, builder.load(total), piece)
            return context.get_dummy_value()

        number = types.intp
        numbers = [number] * 4
        return types.void(out, number, x, number, number, index, perm, weight, *numbers, self_weight), generate

    return row_sum


ROW_SUMS = tuple(_row_sum(vectors) for vectors in range(1, 9))
"""SpMM of one row for 1 to 8 vectors of eight columns, from `column` on, of flat arrays with `width` columns:

out[row] = self_weight[0] * x[row] + sum over begin <= e < end of weight[weight_step * perm[e] + weight_at] *
x[index[e]], where `perm` and `self_weight` may be None.
"""


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
        target, left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = builder.fadd(load(builder, left), load(builder, right))
        factor = _slope(context, builder, signature, values, total)
        store(builder, builder.fmul(total, factor), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp, b, types.intp, slope), generate


@intrinsic
def leaky_relu_backward(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, slope: Any) -> Any:
    """into *= derivative of leaky_relu at a + b, with negative slope `slope` [8]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
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
        target, other = (_pointer(context, builder, signature, values, at) for at in (0, 2))
        store(builder, operation(builder, load(builder, target), load(builder, other)), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp), generate


def _signature(*arguments: Any) -> Any:
    *arrays, numbers = arguments
    places = [part for array in arrays for part in (array, types.intp)]
    return types.void(*places, *[types.intp] * numbers)


def _pointer(context: Any, builder: Any, signature: Any, values: Any, at: int) -> Any:
    array = context.make_array(signature.args[at])(context, builder, values[at])
    place = builder.gep(array.data, [values[at + 1]])
    return builder.bitcast(place, ir.VectorType(array.data.type.pointee, LANES).as_pointer())


def broadcast(builder: Any, number: Any, vector: Any) -> Any:
    """Broadcast a scalar to all lanes."""
    index, nothing = ir.IntType(32), ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(index, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))


def load(builder: Any, pointer: Any) -> Any:
    return builder.load(pointer, align=4)


def store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, pointer, align=4)
