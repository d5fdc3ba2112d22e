"""Matrix products of single channels in eight lanes, one channel each, written as LLVM vector instructions.

The compiler keeps no tile of a result in registers, and BLAS has no kernel for thousands of products of 20 x 20:
`torch.bmm` reaches 22 to 45 GFLOP/s on matrices of 19 to 27 rows, the tiles 93 to 113 on 12 to 118 rows, and 50 with
the copies of `pairs.product` (one core, AMD, AVX-512). The portable fallback is `torch.bmm` on padded buckets
(`nn.dense.autograd`).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from graphtrial.ops.kernels.vector import CONTRACT, LANES, intrinsic, load, store


def _pair_tile(rows: int, columns: int) -> Any:
    """Return an intrinsic that computes `rows` x `columns` elements of eight products in registers."""

    @intrinsic
    def pair_tile(
        typing: Any,
        left: Any,
        left_at: Any,
        left_row: Any,
        left_inner: Any,
        right: Any,
        right_at: Any,
        right_column: Any,
        right_inner: Any,
        inner: Any,
        out: Any,
        out_at: Any,
        out_row: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number = values[1].type

            def vectors(at: int, step: Any, count: int, begin: Any) -> list[Any]:
                data = context.make_array(signature.args[at])(context, builder, values[at]).data
                first = builder.bitcast(data, ir.VectorType(data.type.pointee, LANES).as_pointer())
                steps = [builder.add(begin, builder.mul(step, ir.Constant(number, place))) for place in range(count)]
                return [builder.gep(first, [place]) for place in steps]

            left_places = vectors(0, values[2], rows, values[1])
            right_places = vectors(4, values[6], columns, values[5])
            vector = left_places[0].type.pointee
            zero = ir.Constant(vector, None)
            totals = [[cgutils.alloca_once_value(builder, zero) for _ in range(columns)] for _ in range(rows)]
            with cgutils.for_range(builder, values[8]) as loop:
                left_step, right_step = builder.mul(loop.index, values[3]), builder.mul(loop.index, values[7])
                factors = [load(builder, builder.gep(place, [right_step])) for place in right_places]
                for place, of_row in zip(left_places, totals, strict=True):
                    weight = load(builder, builder.gep(place, [left_step]))
                    for factor, total in zip(factors, of_row, strict=True):
                        product = builder.fmul(weight, factor, CONTRACT)
                        builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
            one = ir.Constant(number, 1)
            for at, of_row in enumerate(totals):
                begin = builder.add(values[10], builder.mul(values[11], ir.Constant(number, at)))
                for total, place in zip(of_row, vectors(9, one, columns, begin), strict=True):
                    store(builder, builder.load(total), place)
            return context.get_dummy_value()

        n = types.intp
        return types.void(left, n, n, n, right, n, n, n, n, out, n, n), generate

    return pair_tile


@intrinsic
def copy_lanes(typing: Any, into: Any, i: Any, source: Any, j: Any) -> Any:
    """into[i : i + 8] = source[j : j + 8] of flat arrays."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, origin = (_pointer(context, builder, signature, values, at) for at in (0, 2))
        store(builder, load(builder, origin), target)
        return context.get_dummy_value()

    n = types.intp
    return types.void(into, n, source, n), generate


@intrinsic
def copy_positive(typing: Any, into: Any, i: Any, source: Any, j: Any, gate: Any, k: Any, adds: Any) -> Any:
    """into[i : i + 8] = source[j : j + 8] where gate[k : k + 8] is positive, else 0; added if `adds`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, origin, other = (_pointer(context, builder, signature, values, at) for at in (0, 2, 4))
        zero = ir.Constant(target.type.pointee, None)
        positive = builder.fcmp_ordered(">", load(builder, other), zero)
        value = builder.select(positive, load(builder, origin), zero)
        before = builder.select(values[6], load(builder, target), zero)
        store(builder, builder.fadd(before, value), target)
        return context.get_dummy_value()

    n = types.intp
    return types.void(into, n, source, n, gate, n, types.boolean), generate


def _pointer(context: Any, builder: Any, signature: Any, values: Any, at: int) -> Any:
    array = context.make_array(signature.args[at])(context, builder, values[at])
    place = builder.gep(array.data, [values[at + 1]])
    return builder.bitcast(place, ir.VectorType(array.data.type.pointee, LANES).as_pointer())


TILE_ROWS, TILE_COLUMNS = 3, 4
pair_tile = _pair_tile(TILE_ROWS, TILE_COLUMNS)
"""out[r, c] = sum over k < inner of left[r, k] * right[k, c] for r < 3, c < 4, of flat arrays in units of eight lanes.

`*_at` is the offset of an array; `left_row`, `left_inner`, `right_column`, `right_inner` and `out_row` are strides.
"""
pair_element = _pair_tile(1, 1)
"""The same for a single element."""
