"""Operators of a recorded model: each appends its instructions, and the rule of its gradient.

Functions have the arguments of the operators of `graphtrial.ops` that they stand for, after the tape.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.ops.batch_norm import CODES
from graphtrial.ops.dropout import LEVELS, threshold
from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.program import Tape
from graphtrial.tape.symbol import ONE_ROW, NotRecordableError, Operand, Rows, Symbol


def as_symbol(tape: Tape, value: Any) -> Symbol:
    """Return a symbol for a parameter or a constant."""
    if isinstance(value, Symbol):
        return value
    if not isinstance(value, Tensor) or value.dtype != torch.float32 or not value.is_contiguous():
        raise NotRecordableError("an operand that is no tensor of single precision")
    if value.requires_grad:
        if not value.is_leaf:
            raise NotRecordableError("a function of a parameter")
        return tape.parameter(value)
    rows = value.shape[0] if value.dim() == 2 else 1
    return Symbol(tape, tape.fixed(value, rows, value.numel() // max(1, rows)), (value.numel() // rows,), grad=False)


def result(tape: Tape, rows: Rows, trailing: tuple[int, ...], *inputs: Symbol | None) -> Symbol:
    """Return a new symbol, which has a gradient where one of the inputs has one."""
    columns = 1
    for size in trailing:
        columns *= size
    grad = any(each is not None and each.requires_grad for each in inputs)
    return Symbol(tape, tape.new(rows, columns), trailing, grad=grad)


def number_of(symbol: Symbol | None) -> Any:
    """Return the operand of a symbol, or `NONE`."""
    return NONE if symbol is None else symbol.operand


def linear(tape: Tape, x: Any, weight: Any, bias: Any = None) -> Symbol:
    x, weight = as_symbol(tape, x), as_symbol(tape, weight)
    bias = None if bias is None else as_symbol(tape, bias)
    width = weight.operand.rows[3]
    if len(x.trailing) != 1 or x.operand.columns != weight.operand.columns:
        raise NotRecordableError("a linear layer of more than two dimensions")
    out = result(tape, x.operand.rows, (width,), x, weight)
    tape.emit(codes.LINEAR, x.operand, weight.operand, number_of(bias), out.operand)
    differentiate_linear(tape, x, weight, bias, out)
    return out


def differentiate_linear(tape: Tape, x: Symbol, weight: Symbol, bias: Symbol | None, out: Symbol) -> None:
    """Add the rule of the gradients of a linear layer."""

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        if x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.LINEAR_INPUT, g, weight.operand, into))
        into, bias_into = tape.target(weight), None if bias is None else tape.target(bias)
        tape.emit(codes.LINEAR_WEIGHT, g, x.operand, into, NONE if bias_into is None else bias_into)
        tape.add(weight, into)
        if bias is not None and bias_into is not None:
            tape.add(bias, bias_into)

    tape.rules.append(rule)


def relu(tape: Tape, x: Symbol) -> Symbol:
    out = result(tape, x.operand.rows, x.trailing, x)
    tape.emit(codes.RELU, x.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.RELU_BACKWARD, g, out.operand, into))

    tape.rules.append(rule)
    return out


def add(tape: Tape, a: Any, b: Any) -> Symbol:
    if isinstance(b, int | float) or isinstance(a, int | float):
        return _add_number(tape, *((a, b) if isinstance(b, int | float) else (b, a)))
    a, b = as_symbol(tape, a), as_symbol(tape, b)
    if a.operand.rows != b.operand.rows or a.trailing != b.trailing:
        raise NotRecordableError("a broadcast sum")
    out = result(tape, a.operand.rows, a.trailing, a, b)
    tape.emit(codes.ADD, a.operand, b.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        for each in (a, b):
            if g is not None and each.requires_grad:
                tape.add(each, g)

    tape.rules.append(rule)
    return out


def add_row(tape: Tape, x: Symbol, row: Any) -> Symbol:
    added = as_symbol(tape, row)
    if added.operand.rows != ONE_ROW or added.operand.columns != x.operand.columns:
        raise NotRecordableError("a broadcast sum")
    out = result(tape, x.operand.rows, x.trailing, x, added)
    tape.emit(codes.ADD_ROW, x.operand, added.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        if x.requires_grad:
            tape.add(x, g)
        if added.requires_grad:
            tape.accumulate(added, lambda into: tape.emit(codes.COLUMN_SUMS, g, into))

    tape.rules.append(rule)
    return out


def _add_number(tape: Tape, value: Any, number: float) -> Symbol:
    x = as_symbol(tape, value)
    out = result(tape, x.operand.rows, x.trailing, x)
    tape.emit(codes.ADD_NUMBER, x.operand, out.operand, tape.number(number))

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.add(x, g)

    tape.rules.append(rule)
    return out


def multiply(tape: Tape, x: Symbol, column: Any) -> Symbol:
    """Record the product with a constant column, such as that of graph norm."""
    if not isinstance(column, Symbol) or column.requires_grad or column.trailing != (1,):
        raise NotRecordableError("a product")
    if column.operand.rows != x.operand.rows:
        raise NotRecordableError("a broadcast product")
    out = result(tape, x.operand.rows, x.trailing, x)
    tape.emit(codes.MULTIPLY_COLUMN, x.operand, column.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.MULTIPLY_COLUMN, g, column.operand, into))

    tape.rules.append(rule)
    return out


def dropout(tape: Tape, x: Symbol, p: float, training: bool = True) -> Symbol:
    if not (training and p):
        return x
    seed, limit = tape.dropouts, threshold(p)
    tape.dropouts += 1
    scale = tape.number(LEVELS / limit)
    out = result(tape, x.operand.rows, x.trailing, x)
    tape.emit(codes.DROPOUT, x.operand, out.operand, seed, limit, scale)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.DROPOUT, g, into, seed, limit, scale))

    tape.rules.append(rule)
    return out


def batch_norm(
    tape: Tape, x: Symbol, weight: Tensor, bias: Tensor, residual: Any, epsilon: float, activation: str
) -> tuple[Symbol, Operand]:
    width, code = x.operand.columns, CODES[activation]
    scale, shift = as_symbol(tape, weight), as_symbol(tape, bias)
    skip = None if residual is None else as_symbol(tape, residual)
    out = result(tape, x.operand.rows, (width,), x, scale, skip)
    columns, statistics = tape.new((0, 0, 0, 4), width), tape.new((0, 0, 0, 2), width)
    tape.more_than_one.add(x.operand.rows)
    inputs = x.operand, scale.operand, shift.operand, number_of(skip)
    tape.emit(codes.BATCH_NORM, *inputs, columns, statistics, out.operand, code, tape.number(epsilon))

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        grads = [tape.target(each) for each in (x, scale, shift)]
        tape.emit(codes.BATCH_NORM_BACKWARD, g, x.operand, columns, *grads, code)
        for each, grad in zip((x, scale, shift), grads, strict=True):
            tape.add(each, grad)
        if skip is not None and skip.requires_grad:
            if skip.operand.rows == x.operand.rows:
                tape.add(skip, g)
            else:
                tape.accumulate(skip, lambda into: tape.emit(codes.COLUMN_SUMS, g, into))

    tape.rules.append(rule)
    return out, statistics


def update_running_statistics(tape: Tape, mean: Tensor, variance: Tensor, statistics: Operand, momentum: float) -> None:
    buffers = (tape.fixed(buffer, 1, buffer.numel()) for buffer in (mean, variance))
    tape.emit(codes.UPDATE_STATISTICS, statistics, *buffers, tape.number(momentum))


def batch_norm_inference(tape: Tape, x: Symbol, norm: Any, residual: Any, activation: str) -> Symbol:
    out = result(tape, x.operand.rows, (x.operand.columns,))
    skip = None if residual is None else as_symbol(tape, residual)
    tensors = (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    moments = [tape.fixed(tensor, 1, tensor.numel()) for tensor in tensors]
    tape.emit(
        codes.RUNNING_NORM, x.operand, *moments, number_of(skip), out.operand, CODES[activation], tape.number(norm.eps)
    )
    return out


def l2_normalize(tape: Tape, x: Symbol) -> Symbol:
    out = result(tape, x.operand.rows, x.trailing, x)
    scale = tape.new(x.operand.rows, 1)
    tape.emit(codes.L2_NORMALIZE, x.operand, out.operand, scale)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.L2_NORMALIZE_BACKWARD, g, out.operand, scale, into))

    tape.rules.append(rule)
    return out
