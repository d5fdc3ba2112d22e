"""Operators of a recorded model along edges: aggregation, pooling, gated mean (see `operators`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from graphtrial.ops.dropout import LEVELS, threshold
from graphtrial.ops.kernels.row_chunks import GROUPS
from graphtrial.ops.linear import MIN_SIZE
from graphtrial.ops.self_attention import KEEP_ALL
from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.operators import as_symbol, number_of, result
from graphtrial.tape.program import Tape
from graphtrial.tape.structure import Structure
from graphtrial.tape.symbol import (
    EDGE_ROWS,
    GRAPH_ROWS,
    NODE_ROWS,
    ONE_ROW,
    NotRecordableError,
    Operand,
    Rows,
    Symbol,
)
from graphtrial.tape.weighted import sum_by_heads


def aggregate(
    tape: Tape, of: Structure, x: Symbol, reduce: str = "sum", weight: Any = None, self_weight: Any = None
) -> Symbol:
    if len(x.trailing) == 2 and reduce == "sum" and isinstance(weight, Symbol) and self_weight is None:
        return sum_by_heads(tape, of, x, weight)
    if len(x.trailing) != 1 or x.operand.rows != NODE_ROWS:
        raise NotRecordableError("aggregation by heads")
    if reduce == "max":
        return _maximum(tape, of.input("in_ptr"), of.input("source"), x, NODE_ROWS)
    if weight is None:
        weight = of.edge_weight(reduce)
    if not isinstance(weight, Operand) or (reduce == "mean" and weight is not of.edge_weight("mean")):
        raise NotRecordableError("aggregation by weights that are computed")
    scale = None if self_weight is None else as_symbol(tape, self_weight)
    forward = of.input("in_ptr"), of.input("source"), NONE
    return _spmm(tape, forward, of.transpose, weight, scale, x, NODE_ROWS)


def pool(tape: Tape, of: Structure, x: Symbol, how: str) -> Symbol:
    numbers = of.range_of_nodes()
    if how == "max":
        return _maximum(tape, of.input("ptr"), numbers, x, GRAPH_ROWS)
    weight = of.pool_weight(how)
    forward, transpose = (of.input("ptr"), numbers, NONE), (numbers, of.input("batch"), NONE)
    return _spmm(tape, forward, lambda: transpose, weight, None, x, GRAPH_ROWS)


def _spmm(
    tape: Tape,
    forward: tuple[Any, ...],
    transpose: Callable[[], tuple[Any, ...]],
    weight: Operand,
    scale: Symbol | None,
    x: Symbol,
    rows: Rows,
) -> Symbol:
    out = result(tape, rows, x.trailing, x, scale)
    tape.emit(codes.SPMM, *forward, weight, number_of(scale), x.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        if x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.SPMM, *transpose(), weight, number_of(scale), g, into))
        if scale is not None and scale.requires_grad:
            tape.accumulate(scale, lambda into: tape.emit(codes.TOTAL_PRODUCT, g, x.operand, into))

    tape.rules.append(rule)
    return out


def _maximum(tape: Tape, ptr: Operand, index: Operand, x: Symbol, rows: Rows) -> Symbol:
    out = result(tape, rows, x.trailing, x)
    argmax = tape.new(rows, 2 * x.operand.columns)
    tape.emit(codes.SPMM_MAX, ptr, index, x.operand, out.operand, argmax)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.SPMM_MAX_BACKWARD, g, argmax, into))

    tape.rules.append(rule)
    return out


def edge_add(tape: Tape, of: Structure, source: Symbol, target: Symbol) -> Symbol:
    out = result(tape, EDGE_ROWS, source.trailing, source, target)
    tape.emit(codes.EDGE_ADD, of.input("source"), of.input("target"), source.operand, target.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        ones = of.edge_weight("sum")
        for each, ptr, index in (
            (source, of.input("out_ptr"), of.input("out_order")),
            (target, of.input("in_ptr"), of.range_of_edges()),
        ):
            if each.requires_grad:
                into = tape.target(each)
                tape.emit(codes.SPMM, ptr, index, NONE, ones, NONE, g, into)
                tape.add(each, into)

    tape.rules.append(rule)
    return out


def relu_sum(tape: Tape, of: Structure, x: Symbol, e: Any, scale: Any = None, *, add_self: bool = False) -> Symbol:
    edge = as_symbol(tape, e)
    if edge.operand.rows != EDGE_ROWS or x.operand.rows != NODE_ROWS:
        raise NotRecordableError("a sum of ReLU with one edge state")
    out = result(tape, NODE_ROWS, x.trailing, x, edge)
    inputs = x.operand, edge.operand, number_of(scale)
    tape.emit(codes.RELU_SUM, of.input("in_ptr"), of.input("source"), *inputs, out.operand, int(add_self))

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        pointers = of.input("out_ptr"), of.input("out_order"), of.input("target")
        before = tape.gradient(edge)
        grad_x, grad_edge = tape.target(x), tape.new(EDGE_ROWS, edge.operand.columns)
        tape.emit(codes.RELU_SUM_BACKWARD, *pointers, *inputs, g, NONE if before is None else before, grad_x, grad_edge)
        if x.requires_grad:
            tape.add(x, grad_x)
        if edge.requires_grad:
            tape.replace(edge, grad_edge)
        if add_self and x.requires_grad:
            tape.add(x, g)

    tape.rules.append(rule)
    return out


def self_attention(tape: Tape, of: Structure, qkv: Symbol, heads: int, dropout: float = 0.0) -> Symbol:
    out = result(tape, NODE_ROWS, (qkv.operand.columns // 3,), qkv)
    norm, seed, limit, scale = tape.new(NODE_ROWS, 2 * heads), 0, KEEP_ALL, tape.number(1.0)
    if dropout:
        seed, limit = tape.dropouts, threshold(dropout)
        tape.dropouts += 1
        scale = tape.number(LEVELS / limit)
    inputs = of.input("ptr"), qkv.operand, heads, seed, limit, scale, norm
    tape.emit(codes.ATTENTION, *inputs, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and qkv.requires_grad:
            tape.accumulate(qkv, lambda into: tape.emit(codes.ATTENTION_BACKWARD, *inputs, g, into))

    tape.rules.append(rule)
    return out


def gated_mean(
    tape: Tape,
    of: Structure,
    source: Symbol,
    target: Symbol,
    edge: Any,
    value: Symbol,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Symbol, Symbol]:
    width = value.operand.columns
    e = None if edge is None else as_symbol(tape, edge)
    w, b = (None if each is None else as_symbol(tape, each) for each in (weight, bias))
    if (e is None) != (w is None) or width < MIN_SIZE or not (source.requires_grad and target.requires_grad):
        raise NotRecordableError("a gated mean without matrix, or narrow")
    shared = e is not None and e.operand.rows == ONE_ROW
    added = target.operand
    if shared:
        row, before, added = tape.new(ONE_ROW, width), added, tape.new(NODE_ROWS, width)
        tape.emit(codes.LINEAR, number_of(e), number_of(w), NONE, row)
        tape.emit(codes.ADD_ROW, before, row, added)
    if b is not None:
        before, added = added, tape.new(NODE_ROWS, width)
        tape.emit(codes.ADD_ROW, before, b.operand, added)
    mean = result(tape, NODE_ROWS, (width,), value)
    logits = result(tape, EDGE_ROWS, (width,), value)
    inverse = tape.new(NODE_ROWS, width)
    matrices = (NONE, NONE) if shared or e is None else (number_of(e), number_of(w))
    pointers = of.input("in_ptr"), of.input("source")
    outputs = logits.operand, mean.operand, inverse
    tape.emit(codes.GATED_MEAN, *pointers, source.operand, added, *matrices, value.operand, *outputs)

    def rule() -> None:
        g, more = tape.gradient(mean), tape.gradient(logits)
        if g is None:
            raise NotRecordableError("a gated mean that is not used")
        per_edge = e is not None and w is not None and not shared
        grad_edge, grad_weight = (tape.target(e), tape.target(w)) if per_edge else (NONE, NONE)  # type: ignore[arg-type]
        nodes = [tape.target(each) for each in (target, source, value)]
        saved = logits.operand, *matrices, value.operand, mean.operand, inverse
        grads = g, NONE if more is None else more, grad_edge, grad_weight
        tape.emit(codes.GATED_MEAN_BACKWARD, of.groups(GROUPS + 2), *pointers, *saved, *grads, *nodes)
        for each, grad in zip((target, source, value), nodes, strict=True):
            tape.add(each, grad)
        if per_edge:
            tape.add(e, grad_edge)  # type: ignore[arg-type]
            tape.add(w, grad_weight)  # type: ignore[arg-type]
        elif e is not None and w is not None:
            total = tape.new(ONE_ROW, width)
            tape.emit(codes.COLUMN_SUMS, nodes[0], total)
            if e.requires_grad:
                tape.accumulate(e, lambda into: tape.emit(codes.LINEAR_INPUT, total, w.operand, into))
            tape.accumulate(w, lambda into: tape.emit(codes.OUTER, total, e.operand, into))
        if b is not None:
            tape.accumulate(b, lambda into: tape.emit(codes.COLUMN_SUMS, nodes[0], into))

    tape.rules.append(rule)
    return mean, logits
