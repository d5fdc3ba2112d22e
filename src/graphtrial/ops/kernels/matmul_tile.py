"""Register tiles of a matrix product, written as LLVM vector instructions.

BLAS libraries are tuned to large matrices. Single products of 3,200 rows on one core reach 104 to 111 GFLOP/s, at
every width from 79 to 145; torch's 64 at widths of 79 and 145, and 94 to 98 at multiples of eight (AMD, AVX-512). The
portable fallback is torch's product, block by block (`ops.linear`): forward and backward of a linear layer with bias
the tiles are 1.15 to 1.3 times as fast at widths of 120 to 146, and 1.1 to 1.2 times as fast as one call of torch,
which has no blocks and therefore other bits on several threads. Small batches (CSL, 205 rows): 0.7, bound by calls from
Python (`python -m benchmarks.operators`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from graphtrial.ops.kernels.vector import CONTRACT, broadcast, has_wide_registers, intrinsic, load, store


class Relu(NamedTuple):
    """Epilogue of a tile: ReLU; `out` is the result."""

    out: Any


class Add(NamedTuple):
    """Epilogue of a tile: the sum with a flat array like the result, which must not be the result: tiles overlap."""

    other: Any


def _tile(rows: int, lanes: tuple[int, ...], *, add: bool) -> Any:
    """Return an intrinsic that computes `rows` rows of vectors of so many lanes, and stores or adds them."""

    @intrinsic
    def tile(
        typing: Any,
        left: Any,
        left_at: Any,
        left_row: Any,
        left_inner: Any,
        right: Any,
        right_at: Any,
        right_inner: Any,
        inner: Any,
        start: Any,
        start_at: Any,
        out: Any,
        out_at: Any,
        out_row: Any,
        more: Any,
        more_at: Any,
        more_inner: Any,
        start_index: Any,
        start_row: Any,
        epilogue: Any,
    ) -> Any:
        kind = getattr(epilogue, "instance_class", None)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            def pointer(at: int) -> Any:
                data = context.make_array(signature.args[at])(context, builder, values[at]).data
                return builder.gep(data, [values[at + 1]])

            def groups(place: Any) -> list[Any]:
                starts = (builder.gep(place, [ir.Constant(values[1].type, at)]) for at in offsets)
                return [
                    builder.bitcast(start, vector.as_pointer()) for start, vector in zip(starts, vectors, strict=True)
                ]

            def row_of(place: Any, step: Any, number: int) -> Any:
                return builder.gep(place, [builder.mul(step, ir.Constant(values[1].type, number))])

            def add_products(left_place: Any, row_step: Any, right_place: Any, count: Any) -> None:
                left_rows = [row_of(left_place, row_step, number) for number in range(rows)]
                with cgutils.for_range(builder, count) as loop:
                    panel = builder.gep(right_place, [builder.mul(loop.index, values[6])])
                    factors = [load(builder, place) for place in groups(panel)]
                    step = builder.mul(loop.index, values[3])
                    for left_of_row, of_row in zip(left_rows, totals, strict=True):
                        number = builder.load(builder.gep(left_of_row, [step]))
                        weights = {vector.count: broadcast(builder, number, vector) for vector in vectors}
                        for factor, total in zip(factors, of_row, strict=True):
                            product = builder.fmul(weights[factor.type.count], factor, CONTRACT)
                            builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)

            def finished(value: Any, place: Any) -> Any:
                if kind is Relu:
                    zero = ir.Constant(value.type, None)
                    return builder.select(builder.fcmp_ordered("<", value, zero), zero, value)
                return builder.fadd(load(builder, place), value) if kind is Add else value

            right_place = pointer(4)
            vectors = [ir.VectorType(right_place.type.pointee, count) for count in lanes]
            offsets = [sum(lanes[:at]) for at in range(len(lanes))]
            firsts = [[ir.Constant(vector, None) for vector in vectors]] * rows
            if start_index is not types.none:
                numbers = [builder.load(row_of(pointer(16), ir.Constant(values[1].type, 1), at)) for at in range(rows)]
                places = [builder.gep(pointer(8), [builder.mul(number, values[12])]) for number in numbers]
                firsts = [[load(builder, place) for place in groups(of_row)] for of_row in places]
            elif start is not types.none:
                firsts = [[load(builder, place) for place in groups(pointer(8))]] * rows
            totals = [[cgutils.alloca_once_value(builder, first) for first in of_row] for of_row in firsts]
            add_products(pointer(0), values[2], right_place, values[7])
            if more is not types.none:
                below = builder.gep(right_place, [builder.mul(values[7], values[6])])
                add_products(pointer(13), values[15], below, values[15])
            out_place = pointer(10)
            others = out_place
            if kind is Add:
                array = context.make_array(epilogue[0])(context, builder, builder.extract_value(values[18], 0))
                others = builder.gep(array.data, [values[11]])
            for number, of_row in enumerate(totals):
                places, into = groups(row_of(others, values[12], number)), groups(row_of(out_place, values[12], number))
                for total, other, place in zip(of_row, places, into, strict=True):
                    value = finished(builder.load(total), other)
                    store(builder, builder.fadd(load(builder, place), value) if add else value, place)
            return context.get_dummy_value()

        n = types.intp
        return types.void(
            left, n, n, n, right, n, n, n, start, n, out, n, n, more, n, n, start_index, n, epilogue
        ), generate

    return tile


class Shape(NamedTuple):
    """Rows of a tile, and the lanes of the vectors of each row."""

    rows: int
    lanes: tuple[int, ...]

    @property
    def columns(self) -> int:
        return sum(self.lanes)


NARROW = (Shape(12, (8,)), Shape(6, (8, 8)), Shape(4, (8, 8, 8)))
"""Twelve accumulators fill the FMA pipelines and fit into 16 registers of 256 bits."""
WIDE = (
    *(Shape(12, (8,)), Shape(12, (16,)), Shape(12, (16, 8)), Shape(12, (16, 16))),
    *(Shape(8, (16, 16, 8)), Shape(8, (16, 16, 16))),
)
"""At most 24 accumulators in 32 registers of up to 512 bits.

Wider and higher tiles read their operands less often: single products in widths of 80 and 160 are 2 to 4 % faster, and
7 to 9 % where the operands are not in the second cache (AMD, whose peak is the same with both). Of doubles, a tile of
24 accumulators takes 48 registers, which are spilled.
"""
SHAPES = WIDE if has_wide_registers() else NARROW
"""Shapes of tiles by ascending width; results have the same bits, element by element, in any shape."""
TILES = tuple(_tile(*shape, add=False) for shape in SHAPES)
"""Tiles of a matrix product, one of each shape.

out[r, c] = start[c] + sum over k < inner of left[r, k] * right[k, c] for flat arrays. `*_at` is the offset of an array;
`left_row`, `left_inner`, `right_inner` and `out_row` are strides of rows and of the inner dimension. `start` may be
None. Unless `more` is None, the product of further columns of the left matrix, an array [rows, more_inner] of its own,
and the next rows of `right` is added. With `start_index` [rows], `start` is a table, of whose row start_index[r] the
columns are taken. `epilogue`: `Relu` or `Add`, applied to a tile before it is stored, or None. It is a type of the
compiled code: a branch between them would take as long as what they save.
"""
ADDING_TILES = tuple(_tile(*shape, add=True) for shape in SHAPES)
"""The same tiles, added to what `out` contains."""
