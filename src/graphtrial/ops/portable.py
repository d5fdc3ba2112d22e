"""Gather and segment sum in plain torch: the portable path of the operators, for devices without compiled kernels.

Edges are sorted, so that a sum over the in-edges or out-edges of each node is a segment reduction. Both operators are
each other's gradient, and neither uses atomic additions, whose order, and so whose rounding, differs between runs on a
GPU. Apple's GPUs have no segment reduction in torch; there the sum is an `index_add`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from graphtrial.ops.sparse_matrix import SparseMatrix

F = TypeVar("F", bound=Callable[..., Any])
_forced = False


def uses_kernels(x: Tensor) -> bool:
    """Return whether an operator on `x` has a compiled kernel: on the CPU, unless `portable_path` is in force."""
    return x.device.type == "cpu" and not _forced


@contextmanager
def portable_path(enabled: bool = True) -> Iterator[None]:
    """Compute by the portable path on the CPU too inside the block, in every thread."""
    global _forced
    before, _forced = _forced, enabled
    try:
        yield
    finally:
        _forced = before


def full_precision(operator: F) -> F:
    """Decorate an operator to compute in 32 bits under automatic mixed precision."""

    @functools.wraps(operator)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        if not torch._C._is_any_autocast_enabled():
            return operator(*arguments, **named)
        device = next(value.device.type for value in (*arguments, *named.values()) if hasattr(value, "device"))
        with torch.autocast(device, enabled=False):
            return operator(*map(_widened, arguments), **{key: _widened(value) for key, value in named.items()})

    return cast(F, wrapper)


def at_least_32(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype of constants, such as inverse degrees, for features of this dtype."""
    return torch.float32 if dtype == torch.bfloat16 else dtype


def gather(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the row of `x` of each entry's column. x: [columns, ...] -> [entries, ...]."""
    out: Tensor = _Gather.apply(x, matrix.col, matrix.csc_entries, matrix.colptr, matrix.csc_columns)  # type: ignore[no-untyped-call]
    return out


def gather_rows(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the row of `x` of each entry's row. x: [rows, ...] -> [entries, ...]."""
    out: Tensor = _Gather.apply(x, matrix.entry_rows, None, matrix.rowptr, None)  # type: ignore[no-untyped-call]
    return out


def segment_sum(matrix: SparseMatrix, values: Tensor) -> Tensor:
    """Return the sum of the values of each row's entries. values: [entries, ...] -> [rows, ...]."""
    out: Tensor = _SegmentSum.apply(values, matrix.rowptr, matrix.entry_rows)  # type: ignore[no-untyped-call]
    return out


def segment_max(matrix: SparseMatrix, values: Tensor) -> Tensor:
    """Return the maximum of each row's entries, without gradient; 0 for an empty row. As `segment_sum`."""
    rows = len(matrix.rowptr) - 1
    index = _expanded(matrix.entry_rows, values)
    out = values.detach().new_zeros(rows, *values.shape[1:])
    return out.scatter_reduce(0, index, values.detach(), "amax", include_self=False)


def first_of_max(matrix: SparseMatrix, values: Tensor, top: Tensor) -> Tensor:
    """Return a mask of the first entry of each row that equals the maximum `top` of that row, or is NaN."""
    is_top = ~(~(values == top.index_select(0, matrix.entry_rows)) & ~values.isnan())
    # Apple's GPUs reduce no 64-bit integers; 24 bits of a float number 16 million entries.
    dtype = torch.float32 if values.device.type == "mps" else torch.int64
    entries = torch.arange(len(values), device=values.device, dtype=dtype).view(-1, *[1] * (values.dim() - 1))
    place = torch.where(is_top, entries, len(values))
    first = place.new_full(top.shape, len(values))
    first = first.scatter_reduce(0, _expanded(matrix.entry_rows, values), place, "amin")
    return entries == first.index_select(0, matrix.entry_rows)


class _Gather(torch.autograd.Function):
    """`order` and `sorted_index` are None where `index` is sorted: torch.compile accepts no tensor twice."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, index: Tensor, order: Tensor | None, ptr: Tensor, sorted_index: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(order, ptr, index if sorted_index is None else sorted_index)
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None, None]:
        order, ptr, sorted_index = ctx.saved_tensors
        grad = grad_output if order is None else grad_output.index_select(0, order)
        return _sums(grad, ptr, sorted_index), None, None, None, None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, ptr: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        return _sums(values, ptr, index)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        return grad_output.index_select(0, ctx.saved_tensors[0]), None, None


def _sums(values: Tensor, ptr: Tensor, index: Tensor) -> Tensor:
    if values.device.type == "mps":
        return values.new_zeros(len(ptr) - 1, *values.shape[1:]).index_add(0, index, values)
    # unsafe: the pointers are ours, and checking them would wait for the device
    return torch.segment_reduce(values.contiguous(), "sum", offsets=ptr, axis=0, initial=0, unsafe=True)


def _expanded(index: Tensor, like: Tensor) -> Tensor:
    return index.view(-1, *[1] * (like.dim() - 1)).expand_as(like)


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype == torch.bfloat16 else value
