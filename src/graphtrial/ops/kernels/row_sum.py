"""SpMM of one row, written as LLVM vector instructions, because the compiler does not keep its sum in registers.

Forward and backward on one core (`python -m benchmarks.operators`, AMD, AVX-512): against the fallback, the plain
loops of `kernels.spmm`, 1.7 times as fast on PATTERN, 1.2 on Wiki-CS, but 0.9 on ZINC and 0.95 on CSL, where rows have
two to four entries; against `torch.sparse` 1.6, 2.0, 1.0 to 1.4 and 0.8. Kept for graphs with long rows; on the others
it loses a tenth of a millisecond at most.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from graphtrial.ops.kernels.vector import CONTRACT, LANES, broadcast, intrinsic, load, store


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

            def weight_at_place(place: Any) -> Any:
                if weight.ndim == 1:
                    return broadcast(builder, builder.load(builder.gep(data(7), [place])), vector)
                return load(builder, builder.gep(builder.bitcast(data(7), vector.as_pointer()), [place]))

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
                factor = weight_at_place(place)
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
x[index[e]], where `perm` and `self_weight` may be None. With weight [rows, 8], each lane has a weight of its own.
"""
