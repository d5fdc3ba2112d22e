"""Operations on eight numbers at once, written as vector instructions.

The compiler makes vector instructions of long loops only, and the heads of attention are few. They lie side by side,
eight of them, and each operation below takes eight numbers of each flat array from the given place on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as typed_intrinsic

intrinsic: Any = typed_intrinsic
LANES = 8
CONTRACT = ("contract",)


@intrinsic
def multiply_add(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, groups: Any) -> Any:
    """into[g] += a * b[g] for each of so many groups g of eight, one after the other in `into` and `b`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, weight, value = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        factor = _load(builder, weight)
        with cgutils.for_range(builder, values[6]) as loop:
            at_target, at_value = (builder.gep(p, [loop.index]) for p in (target, value))
            product = builder.fmul(factor, _load(builder, at_value), CONTRACT)
            _store(builder, builder.fadd(_load(builder, at_target), product, CONTRACT), at_target)
        return context.get_dummy_value()

    return _signature(into, a, b, 1), generate


@intrinsic
def dot(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, groups: Any) -> Any:
    """into = sum over so many groups g of eight of a[g] * b[g]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = cgutils.alloca_once_value(builder, ir.Constant(target.type.pointee, None))
        with cgutils.for_range(builder, values[6]) as loop:
            pair = (_load(builder, builder.gep(p, [loop.index])) for p in (left, right))
            product = builder.fmul(*pair, CONTRACT)
            builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
        _store(builder, builder.load(total), target)
        return context.get_dummy_value()

    return _signature(into, a, b, 1), generate


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
def raise_to(typing: Any, into: Any, i: Any, a: Any, j: Any) -> Any:
    """into = the larger of into and a, or a where it is no number."""
    return _in_place(into, a, lambda builder, x, y: builder.select(builder.fcmp_ordered("<", y, x), x, y))


@intrinsic
def leaky(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, slope: Any) -> Any:
    """into = a + b where that is positive, slope [8] * (a + b) elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = builder.fadd(_load(builder, left), _load(builder, right))
        factor = _slope(context, builder, signature, values, total)
        _store(builder, builder.fmul(total, factor), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp, b, types.intp, slope), generate


@intrinsic
def leaky_backward(typing: Any, into: Any, i: Any, a: Any, j: Any, b: Any, k: Any, slope: Any) -> Any:
    """into *= 1 where a + b is positive, slope [8] elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, left, right = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        total = builder.fadd(_load(builder, left), _load(builder, right))
        factor = _slope(context, builder, signature, values, total)
        _store(builder, builder.fmul(_load(builder, target), factor), target)
        return context.get_dummy_value()

    return types.void(into, types.intp, a, types.intp, b, types.intp, slope), generate


def _slope(context: Any, builder: Any, signature: Any, values: Any, total: Any) -> Any:
    array = context.make_array(signature.args[6])(context, builder, values[6])
    slope = _load(builder, builder.bitcast(array.data, total.type.as_pointer()))
    ones = ir.Constant(total.type, [1.0] * LANES)
    return builder.select(builder.fcmp_ordered(">", total, ir.Constant(total.type, None)), ones, slope)


def _in_place(into: Any, a: Any, operation: Callable[..., Any]) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, other = (_pointer(context, builder, signature, values, at) for at in (0, 2))
        _store(builder, operation(builder, _load(builder, target), _load(builder, other)), target)
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


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(pointer, align=4)


def _store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, pointer, align=4)
