"""Operators of a recorded model with edge weights that are computed: attention of GAT, Gaussians of MoNet."""

from __future__ import annotations

from typing import Any

from graphtrial.ops.attention import LANES, MIN_HEADS
from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.operators import as_symbol, result
from graphtrial.tape.program import Tape
from graphtrial.tape.structure import Structure
from graphtrial.tape.symbol import EDGE_ROWS, NODE_ROWS, NotRecordableError, Symbol


def attention(tape: Tape, of: Structure, z: Symbol, source: Any, target: Any, slope: float) -> Symbol:
    heads, width = _by_heads(z)
    if heads < MIN_HEADS:
        weight = edge_softmax(tape, of, attention_scores(tape, of, z, source, target, slope))
        return sum_by_heads(tape, of, z, weight)
    if heads > LANES:
        raise NotRecordableError("attention with many heads")
    a, b, number = as_symbol(tape, source), as_symbol(tape, target), tape.number(slope)
    out = result(tape, NODE_ROWS, (heads, width), z, a, b)
    lanes, scores, alpha = tape.new(NODE_ROWS, LANES * width), tape.new((2, 0, 0, 0), LANES), tape.new(EDGE_ROWS, LANES)
    pointers = of.input("in_ptr"), of.input("source")
    inputs = z.operand, a.operand, b.operand
    tape.emit(codes.GAT, *pointers, *inputs, lanes, scores, alpha, out.operand, heads, number)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        grads = [tape.target(each) for each in (z, a, b)]
        buffers = tape.new(NODE_ROWS, LANES * width), tape.new(EDGE_ROWS, LANES), tape.new(NODE_ROWS, LANES)
        saved = lanes, scores, alpha, a.operand, b.operand
        tape.emit(codes.GAT_BACKWARD, *pointers, *of.transpose(), g, *saved, *buffers, *grads, heads, number)
        for each, grad in zip((z, a, b), grads, strict=True):
            tape.add(each, grad)

    tape.rules.append(rule)
    return out


def attention_scores(tape: Tape, of: Structure, z: Symbol, source: Any, target: Any, slope: float) -> Symbol:
    heads, _ = _by_heads(z)
    a, b, number = as_symbol(tape, source), as_symbol(tape, target), tape.number(slope)
    out = result(tape, EDGE_ROWS, (heads,), z, a, b)
    inputs = z.operand, a.operand, b.operand
    tape.emit(codes.EDGE_SCORES, of.input("in_ptr"), of.input("source"), *inputs, out.operand, heads, number)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        pointers = of.input("in_ptr"), of.input("out_ptr"), of.input("out_order")
        grads = [tape.target(each) for each in (z, a, b)]
        tape.emit(codes.EDGE_SCORES_BACKWARD, *pointers, g, out.operand, *inputs, *grads, heads, number)
        for each, grad in zip((z, a, b), grads, strict=True):
            tape.add(each, grad)

    tape.rules.append(rule)
    return out


def edge_softmax(tape: Tape, of: Structure, scores: Symbol) -> Symbol:
    out = result(tape, EDGE_ROWS, scores.trailing, scores)
    tape.emit(codes.SOFTMAX, of.input("in_ptr"), scores.operand, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and scores.requires_grad:
            tape.accumulate(
                scores, lambda into: tape.emit(codes.SOFTMAX_BACKWARD, of.input("in_ptr"), g, out.operand, into)
            )

    tape.rules.append(rule)
    return out


def sum_by_heads(tape: Tape, of: Structure, x: Symbol, weight: Symbol) -> Symbol:
    """Record a sum over in-neighbours with a weight of each edge and head. x: [nodes, heads, width]."""
    heads, _ = _by_heads(x)
    if weight.operand.rows != EDGE_ROWS or weight.trailing != (heads,):
        raise NotRecordableError("aggregation by heads with other weights")
    out = result(tape, NODE_ROWS, x.trailing, x, weight)
    pointers = of.input("in_ptr"), of.input("source")
    tape.emit(codes.SPMM_HEADS, *pointers, NONE, weight.operand, x.operand, out.operand, heads)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        if x.requires_grad:
            transpose = of.transpose()
            tape.accumulate(x, lambda into: tape.emit(codes.SPMM_HEADS, *transpose, weight.operand, g, into, heads))
        if weight.requires_grad:
            tape.accumulate(weight, lambda into: tape.emit(codes.SDDMM, *pointers, g, x.operand, into, heads))

    tape.rules.append(rule)
    return out


def gaussian_weights(tape: Tape, of: Structure, weight: Any, bias: Any, mean: Any, inverse: Any) -> Symbol:
    parameters = [as_symbol(tape, each) for each in (weight, bias, mean, inverse)]
    kernels = parameters[2].operand.rows[3]
    out = result(tape, EDGE_ROWS, (kernels,), *parameters)
    u, pointers = tape.new(EDGE_ROWS, 2), (of.input("in_ptr"), of.input("source"))
    operands = [each.operand for each in parameters]
    tape.emit(codes.GAUSSIANS, *pointers, *operands, u, out.operand)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        grads = [tape.target(each) for each in parameters]
        tape.emit(codes.GAUSSIANS_BACKWARD, *pointers, *operands[2:], u, out.operand, g, *grads)
        for each, grad in zip(parameters, grads, strict=True):
            tape.add(each, grad)

    tape.rules.append(rule)
    return out


def mixture_sum(tape: Tape, of: Structure, z: Symbol, weight: Symbol) -> Symbol:
    kernels, width = _by_heads(z)
    out = result(tape, NODE_ROWS, (width,), z, weight)
    pointers = of.input("in_ptr"), of.input("source")
    tape.emit(codes.MIXTURE_SUM, *pointers, weight.operand, z.operand, out.operand, kernels)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        grads = tape.target(z), tape.target(weight)
        inputs = weight.operand, z.operand, g
        tape.emit(codes.MIXTURE_SUM_BACKWARD, *pointers, *of.transpose(), *inputs, *grads, kernels)
        for each, grad in zip((z, weight), grads, strict=True):
            tape.add(each, grad)

    tape.rules.append(rule)
    return out


def _by_heads(z: Symbol) -> tuple[int, int]:
    if len(z.trailing) != 2 or z.operand.rows != NODE_ROWS or not z.requires_grad:
        raise NotRecordableError("node features without heads, or without gradient")
    return z.trailing[0], z.trailing[1]
