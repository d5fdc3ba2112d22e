"""Operators of a recorded model of PNA: towers, several aggregators, degree scalers (see `operators`)."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.nn.neighbourhood.scalers import degree_scalers as scalers_of
from graphtrial.ops.linear import MIN_SIZE
from graphtrial.ops.multi_aggregate import is_fused, layout_of
from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.matrices import linear
from graphtrial.tape.operators import number_of, result
from graphtrial.tape.program import Tape
from graphtrial.tape.structure import Structure
from graphtrial.tape.symbol import EDGE_ROWS, NODE_ROWS, NotRecordableError, Symbol


def tower_linear(tape: Tape, x: Symbol, weight: Tensor, bias: Tensor | None = None) -> Symbol:
    towers, outputs, inputs = weight.shape
    w = tape.parameter(weight, towers * outputs)
    b = None if bias is None else tape.parameter(bias, 1)
    if towers == 1 or x.trailing == (inputs,):
        return linear(tape, x, w, b)
    if x.trailing != (towers * inputs,) or min(outputs, inputs) < MIN_SIZE:
        raise NotRecordableError("towers without register tiles")
    out = result(tape, x.operand.rows, (towers * outputs,), x, w)
    tape.emit(codes.TOWER_LINEAR, x.operand, w.operand, number_of(b), out.operand, towers)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        if x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.TOWER_LINEAR_INPUT, g, w.operand, into, towers))
        into, bias_into = tape.target(w), None if b is None else tape.target(b)
        tape.emit(codes.TOWER_LINEAR_WEIGHT, g, x.operand, into, NONE if bias_into is None else bias_into, towers)
        tape.add(w, into)
        if b is not None and bias_into is not None:
            tape.add(b, bias_into)

    tape.rules.append(rule)
    return out


def multi_aggregate(
    tape: Tape, of: Structure, sent: Symbol, own: Symbol, edge: Symbol | None, names: tuple[str, ...], towers: int = 1
) -> Symbol:
    width = sent.operand.columns
    if not is_fused(names) or (edge is not None and edge.operand.rows != EDGE_ROWS):
        raise NotRecordableError("aggregators without a kernel")
    out = result(tape, NODE_ROWS, (len(names) * width,), sent, own, edge)
    inputs = of.input("in_ptr"), of.input("source"), sent.operand, own.operand, number_of(edge)
    tape.emit(codes.MULTI_AGGREGATE, *inputs, out.operand, layout_of(names), towers)

    def rule() -> None:
        g = tape.gradient(out)
        if g is None:
            return
        message, of_own, of_sent = tape.new(EDGE_ROWS, width), tape.target(own), tape.target(sent)
        facts = layout_of(names), towers
        tape.emit(codes.MULTI_AGGREGATE_BACKWARD, *inputs, out.operand, *facts, g, message, of_own)
        by_source = of.input("out_ptr"), of.input("out_order"), NONE, of.edge_weight("sum"), NONE
        tape.emit(codes.SPMM, *by_source, message, of_sent)
        tape.add(sent, of_sent)
        tape.add(own, of_own)
        if edge is not None and edge.requires_grad:
            tape.add(edge, message)

    tape.rules.append(rule)
    return out


def degree_scalers(tape: Tape, of: Structure, names: tuple[str, ...], delta: float, dtype: torch.dtype) -> list[Symbol]:
    """Return the factors of each node, which torch computes for every batch: its logarithm has other bits than ours."""

    def factor(at: int) -> Symbol:
        name = f"scaler {names[at]} {delta}"
        operand = tape.computed(name, NODE_ROWS, 1, lambda batch: scalers_of(batch, names, delta, dtype)[at])
        return Symbol(tape, operand, (1,), grad=False)

    return [factor(at) for at in range(len(names))]


def leaky_relu(tape: Tape, x: Symbol, negative_slope: float = 0.01, inplace: bool = False) -> Symbol:
    if negative_slope <= 0:
        raise NotRecordableError("a LeakyReLU whose sign is not that of its input")
    out, slope = result(tape, x.operand.rows, x.trailing, x), tape.number(negative_slope)
    tape.emit(codes.LEAKY_RELU, x.operand, out.operand, slope)

    def rule() -> None:
        g = tape.gradient(out)
        if g is not None and x.requires_grad:
            tape.accumulate(x, lambda into: tape.emit(codes.LEAKY_RELU_BACKWARD, slope, g, out.operand, into))

    tape.rules.append(rule)
    return out
