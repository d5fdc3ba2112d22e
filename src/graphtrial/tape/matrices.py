"""Operators of a recorded model that join and split matrices, and embed categories (see `operators`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphtrial.ops.linear import MIN_SIZE
from graphtrial.tape import codes, operators
from graphtrial.tape.codes import NONE
from graphtrial.tape.operators import as_symbol, number_of, result
from graphtrial.tape.program import Tape
from graphtrial.tape.symbol import (
    EmbeddedSymbol,
    JoinedSymbol,
    NotRecordableError,
    Operand,
    Rows,
    Symbol,
    SymbolicColumn,
)

MAX_TYPES = 256
"""Rows of a table up to which its product is taken for that of the rows looked up: a batch has more nodes."""


def embedding(
    tape: Tape,
    index: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Symbol:
    """Record a lookup of rows, as `torch.nn.functional.embedding`; without options."""
    optional = padding_idx is not None or max_norm is not None or scale_grad_by_freq or sparse
    if not isinstance(index, SymbolicColumn) or optional:
        raise NotRecordableError("an embedding with options")
    table = as_symbol(tape, weight)
    rows = result(tape, index.operand.rows, (table.operand.columns,), table)
    out = EmbeddedSymbol(rows, index.operand, table)
    tape.emit(codes.EMBED, index.operand, table.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None:
            tape.accumulate(table, lambda into: tape.emit(codes.EMBED_BACKWARD, index.operand, g, into))

    tape.rules.append(rule)
    return out


def one_hot(tape: Tape, index: Any, types: int) -> Symbol:
    if not isinstance(index, SymbolicColumn):
        raise NotRecordableError("one-hot vectors of a tensor")
    out = result(tape, index.operand.rows, (types,))
    tape.emit(codes.ONE_HOT, index.operand, out.operand)
    return out


def cat(tape: Tape, tensors: Sequence[Any], dim: int = 0) -> Symbol:
    symbols = [as_symbol(tape, tensor) for tensor in tensors]
    if dim == 1:
        joined = symbols[0]
        for symbol in symbols[1:]:
            joined = _join_columns(tape, joined, symbol)
        return joined
    if dim != 0 or len(symbols) != 2:
        raise NotRecordableError("a concatenation")
    return _join_rows(tape, *symbols)


def _join_columns(tape: Tape, a: Symbol, b: Symbol) -> Symbol:
    width, rows = a.operand.columns, a.operand.rows
    if b.operand.rows != rows:
        raise NotRecordableError("a concatenation")

    def join() -> Operand:
        joined = tape.new(rows, width + b.operand.columns)
        tape.emit(codes.JOIN_COLUMNS, a.operand, b.operand, joined)
        return joined

    out = JoinedSymbol(a, b, join)

    def rule() -> None:
        g = None if out.joined is None else tape.gradient(out)
        for number, (each, first) in enumerate(((a, 0), (b, width))):
            part = None if out.grads is None else out.grads[number]
            if not each.requires_grad:
                continue
            if g is not None:
                later = tape.target(each)
                tape.emit(codes.SPLIT_COLUMNS, g, later, first)
                part = later if part is None else _sum(tape, later, part)
            if part is not None:
                tape.add(each, part)

    tape.rules.append(rule)
    return out


def _sum(tape: Tape, a: Operand, b: Operand) -> Operand:
    total = tape.new(a.rows, a.columns)
    tape.emit(codes.ADD, a, b, total)
    return total


def linear(tape: Tape, x: Any, weight: Any, bias: Any = None) -> Symbol:
    """Record a linear layer.

    Of rows of a small table the table is multiplied. Two matrices side by side are read where they are, by the first
    operator that does.
    """
    joined = isinstance(x, JoinedSymbol) and x.joined is None and not x.is_read
    if not joined and not isinstance(x, EmbeddedSymbol):
        return operators.linear(tape, x, weight, bias)
    w, b = as_symbol(tape, weight), None if bias is None else as_symbol(tape, bias)
    if x.trailing != (w.operand.columns,):
        raise NotRecordableError("a linear layer of another width")
    if joined:
        return _joined_linear(tape, x, w, b)
    if not _is_short(x, w):
        return operators.linear(tape, x, weight, bias)
    out = result(tape, x.operand.rows, (w.operand.rows[3],), x, w)
    tape.emit(codes.EMBED, x.index, _product(tape, x, w.operand, b), out.operand)
    operators.differentiate_linear(tape, x, w, b, out)
    return out


def _is_short(x: Symbol, weight: Symbol) -> bool:
    """Return whether x has the rows of a small table, and products with it the bits of those with all rows."""
    if not isinstance(x, EmbeddedSymbol):
        return False
    types, width, outputs = x.table.operand.rows[3], x.operand.columns, weight.operand.rows[3]
    return min(types, width, outputs) >= MIN_SIZE and types <= MAX_TYPES


def _product(tape: Tape, x: EmbeddedSymbol, weight: Operand, bias: Symbol | None) -> Operand:
    out = tape.new(x.table.operand.rows, weight.rows[3])
    tape.emit(codes.LINEAR, x.table.operand, weight, number_of(bias), out)
    return out


def _joined_linear(tape: Tape, x: JoinedSymbol, w: Symbol, b: Symbol | None) -> Symbol:
    x.is_read = True
    first, parts = x.parts[0], [part.operand for part in x.parts]
    out = result(tape, parts[0].rows, (w.operand.rows[3],), x, w)
    if isinstance(first, EmbeddedSymbol) and _is_short(first, w):
        half = tape.new(w.operand.rows, parts[0].columns)
        tape.emit(codes.SPLIT_COLUMNS, w.operand, half, 0)
        start = _product(tape, first, half, b)
        tape.emit(codes.STARTED_LINEAR, first.index, start, parts[1], w.operand, out.operand)
    else:
        tape.emit(codes.JOINED_LINEAR, *parts, w.operand, number_of(b), out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        if x.requires_grad:
            x.grads = tape.target(x.parts[0]), tape.target(x.parts[1])
            tape.emit(codes.JOINED_LINEAR_INPUT, g, w.operand, *x.grads)
        into, bias_into = tape.target(w), None if b is None else tape.target(b)
        tape.emit(codes.JOINED_LINEAR_WEIGHT, g, *parts, into, NONE if bias_into is None else bias_into)
        tape.add(w, into)
        if b is not None and bias_into is not None:
            tape.add(b, bias_into)

    tape.rules.append(rule)
    return out


def _join_rows(tape: Tape, a: Symbol, b: Symbol) -> Symbol:
    rows: Rows = tuple(map(sum, zip(a.operand.rows, b.operand.rows, strict=True)))  # type: ignore[assignment]
    if a.trailing != b.trailing:
        raise NotRecordableError("a concatenation")
    out = result(tape, rows, a.trailing, a, b)
    tape.emit(codes.JOIN_ROWS, a.operand, b.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        parts = tape.target(a), tape.target(b)
        tape.emit(codes.SPLIT_ROWS, g, *parts)
        for each, part in zip((a, b), parts, strict=True):
            if each.requires_grad:
                tape.add(each, part)

    tape.rules.append(rule)
    return out


def chunk(tape: Tape, weight: Any, chunks: int, dim: int = 0) -> tuple[Symbol, Symbol]:
    """Record the two halves of the columns of a parameter."""
    x = as_symbol(tape, weight)
    half, odd = divmod(x.operand.columns, 2)
    if chunks != 2 or dim != 1 or odd:
        raise NotRecordableError("parts of a parameter")
    parts = result(tape, x.operand.rows, (half,), x), result(tape, x.operand.rows, (half,), x)
    for number, part in enumerate(parts):
        tape.emit(codes.SPLIT_COLUMNS, x.operand, part.operand, number * half)

    def rule() -> None:
        grads = [tape.gradient(part) for part in parts]
        if None not in grads:
            tape.accumulate(x, lambda into: tape.emit(codes.JOIN_COLUMNS, *grads, into))

    tape.rules.append(rule)
    return parts
