"""One row of a sum over entries and kernels, written as LLVM vector instructions (see `row_sum`)."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from graphtrial.ops.kernels.vector import CONTRACT, LANES, broadcast, intrinsic, load, store


def _mixture_row(vectors: int) -> Any:
    @intrinsic
    def mixture_row(
        typing: Any,
        out: Any,
        out_at: Any,
        x: Any,
        x_at: Any,
        stride: Any,
        step: Any,
        index: Any,
        perm: Any,
        weight: Any,
        weight_at: Any,
        weight_stride: Any,
        count: Any,
        begin: Any,
        end: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            def data(at: int) -> Any:
                return context.make_array(signature.args[at])(context, builder, values[at]).data

            def pieces(place: Any) -> list[Any]:
                first = builder.bitcast(place, vector.as_pointer())
                return [builder.gep(first, [ir.Constant(values[1].type, at)]) for at in range(vectors)]

            target, source = builder.gep(data(0), [values[1]]), builder.gep(data(2), [values[3]])
            vector = ir.VectorType(target.type.pointee, LANES)
            totals = [cgutils.alloca_once_value(builder, ir.Constant(vector, None)) for _ in range(vectors)]
            one = ir.Constant(values[12].type, 1)
            with cgutils.for_range_slice(builder, values[12], values[13], one, inc=True) as (entry, _):
                at = entry if perm is types.none else builder.load(builder.gep(data(7), [entry]))
                factors = builder.gep(data(8), [builder.add(builder.mul(at, values[10]), values[9])])
                row = builder.gep(source, [builder.mul(builder.load(builder.gep(data(6), [entry])), values[4])])
                with cgutils.for_range(builder, values[11]) as loop:
                    factor = broadcast(builder, builder.load(builder.gep(factors, [loop.index])), vector)
                    place = builder.gep(row, [builder.mul(loop.index, values[5])])
                    for total, piece in zip(totals, pieces(place), strict=True):
                        product = builder.fmul(factor, load(builder, piece), CONTRACT)
                        builder.store(builder.fadd(builder.load(total), product, CONTRACT), total)
            for total, piece in zip(totals, pieces(target), strict=True):
                store(builder, builder.load(total), piece)
            return context.get_dummy_value()

        n = types.intp
        return types.void(out, n, x, n, n, n, index, perm, weight, n, n, n, n, n), generate

    return mixture_row


MIXTURE_ROWS = tuple(_mixture_row(vectors) for vectors in range(1, 9))
"""Sums of 1 to 8 vectors of eight columns, for flat arrays:

out[out_at :] = sum over begin <= e < end and k < count of weight[weight_stride * perm[e] + weight_at + k] *
x[stride * index[e] + step * k + x_at :], where `perm` may be None.
"""
