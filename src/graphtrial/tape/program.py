"""`Tape`: instructions of a forward and a backward pass, and the memory of their operands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from graphtrial.tape import codes
from graphtrial.tape.codes import NONE, OPERANDS
from graphtrial.tape.memory import ALIGNMENT, ARENA, FIXED, INPUT
from graphtrial.tape.symbol import NODE_ROWS, ONE_ROW, Operand, Rows, Symbol

Instruction = tuple[Any, ...]
SUMS_OVER_EDGES = (
    *(codes.SPMM, codes.SPMM_MAX, codes.GATED_MEAN, codes.RELU_SUM),
    *(codes.SPMM_HEADS, codes.GAT, codes.MIXTURE_SUM, codes.MULTI_AGGREGATE),
)
ARENA_INPUT = 0
"""Number of the input that is the address of the arena."""
IN_PLACE = {
    codes.RELU_BACKWARD: (0,),
    codes.LEAKY_RELU_BACKWARD: (1,),
    codes.ADD: (0, 1),
    codes.RELU_SUM_BACKWARD: (7,),
}
"""Operands of an instruction, the code not counted, that its last operand may overwrite if nothing reads them later.

A program's arena is larger than the caches: GIN+ on ZINC gains 2 % of a step by it.
"""


class Tape:
    """Program of a model: instructions, operands, constants, gradients of parameters.

    Gradients are accumulated in the order of torch's autograd, latest operator first, so that their bits are the same.
    """

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        self.functions = functions
        self.forward: list[Instruction] = []
        self.backward: list[Instruction] = []
        self.operands: list[Operand] = []
        self.numbers: list[float] = []
        self.rules: list[Callable[[], None]] = []
        self.dropouts = 0
        self.inputs: dict[str, Operand] = {}
        self.functions_of_batch: dict[str, Callable[[Any], Tensor]] = {}
        """Functions of a batch that compute an input, by its name."""
        self.parameters: dict[int, tuple[Tensor, Operand]] = {}
        self.more_than_one: set[Rows] = set()
        """Rows that batch norm needs at least two of."""
        self._fixed: dict[int, Operand] = {}
        self._gradients: dict[Operand, Operand] = {}
        self._own: dict[int, Operand] = {}
        self._instructions = self.forward

    def call(self, name: str, *arguments: Any) -> Any:
        """Record an elementary operator by name."""
        return self.functions[name](self, *arguments)

    def emit(self, code: int, *operands: Any) -> None:
        """Append an instruction; operands are `Operand`s, numbers or `NONE`."""
        self._instructions.append((code, *operands))

    def widths(self) -> tuple[int, int]:
        """Return the columns of the widest node matrix, and of the widest edge matrix or sum over neighbours."""
        nodes = [operand.columns for operand in self.operands if operand.rows[0]]
        edges = [operand.columns for operand in self.operands if operand.rows[1]]
        for code, *operands in self.forward:
            if code in SUMS_OVER_EDGES:  # the smallest of its matrices: others hold the places of maxima too
                edges.append(min(each.columns for each in operands if getattr(each, "rows", None) == NODE_ROWS))
        return max(nodes, default=1), max(edges, default=1)

    def number(self, value: float) -> int:
        """Return the index of a constant."""
        self.numbers.append(float(value))
        return len(self.numbers) - 1

    def new(self, rows: Rows, columns: int) -> Operand:
        """Return a new operand in the arena."""
        return self._operand(rows, columns, ARENA, None)

    def input(self, name: str, rows: Rows, columns: int) -> Operand:
        """Return the operand of an input of a batch."""
        if name not in self.inputs:
            self.inputs[name] = self._operand(rows, columns, INPUT, 1 + len(self.inputs))
        return self.inputs[name]

    def fixed(self, tensor: Tensor, rows: int, columns: int) -> Operand:
        """Return the operand of a parameter, a buffer or a constant, by its memory."""
        key = id(tensor)
        if key not in self._fixed:
            self._fixed[key] = self._operand((0, 0, 0, rows), columns, FIXED, tensor)
        return self._fixed[key]

    def computed(self, name: str, rows: Rows, columns: int, compute: Callable[[Any], Tensor]) -> Operand:
        """Return the operand of a matrix that a function computes of every batch."""
        self.functions_of_batch[name] = compute
        return self.input(name, rows, columns)

    def parameter(self, tensor: Tensor, rows: int | None = None) -> Symbol:
        """Return a parameter as a symbol: a matrix, or a single row, or a matrix of as many rows as given."""
        if rows is None:
            rows = tensor.shape[0] if tensor.dim() == 2 else 1
        operand = self.fixed(tensor, rows, tensor.numel() // max(1, rows))
        self.parameters.setdefault(operand.number, (tensor, operand))
        return Symbol(self, operand, (operand.columns,), grad=True)

    def gradient(self, symbol: Symbol) -> Operand | None:
        """Return the gradient of a result so far."""
        return self._gradients.get(symbol.operand)

    def accumulate(self, symbol: Symbol, write: Callable[[Operand], None]) -> None:
        """Add a contribution, which `write` emits into the operand that it gets, to the gradient of a symbol."""
        target = self.target(symbol)
        write(target)
        self.add(symbol, target)

    def target(self, symbol: Symbol) -> Operand:
        """Return an operand for a contribution to the gradient of a symbol: of a parameter, its own where it is new."""
        operand = symbol.operand
        if operand.number in self.parameters and operand not in self._gradients:
            own = self._operand(operand.rows, operand.columns, FIXED, None)
            self._own[operand.number] = own
            return own
        return self.new(operand.rows, operand.columns)

    def add(self, symbol: Symbol, contribution: Operand) -> None:
        """Add a contribution to the gradient of a symbol."""
        operand = symbol.operand
        before = self._gradients.get(operand)
        own = self._own.get(operand.number)
        if before is None:
            if operand.number in self.parameters and contribution is not own:
                own = self.target(symbol)
                self.emit(codes.COPY, contribution, own)
                contribution = own
            self._gradients[operand] = contribution
            return
        total = own or self.new(operand.rows, operand.columns)
        self.emit(codes.ADD, before, contribution, total)
        self._gradients[operand] = total

    def replace(self, symbol: Symbol, total: Operand) -> None:
        """Set the gradient of a symbol that is no parameter, of an instruction that adds to the one before."""
        self._gradients[symbol.operand] = total

    def differentiate(self, out: Symbol) -> None:
        """Record the backward pass from the gradient of `out`, the input `grad_output`."""
        self._instructions = self.backward
        self._gradients[out.operand] = self.input("grad_output", out.operand.rows, out.operand.columns)
        for rule in reversed(self.rules):
            rule()

    def gradients(self) -> list[tuple[Tensor, Operand]]:
        """Return the parameters that have a gradient, and its operand."""
        return [(self.parameters[number][0], own) for number, own in self._own.items()]

    def _operand(self, rows: Rows, columns: int, kind: int, place: Any) -> Operand:
        operand = Operand(len(self.operands), rows, columns, kind, place)
        self.operands.append(operand)
        return operand


class Memory:
    """Slots of the arena: operands of the same shape share one where their lifetimes do not overlap."""

    def __init__(self, tape: Tape) -> None:
        self.shapes: list[tuple[Rows, int]] = []
        last: dict[Operand, int] = {}
        order = [*tape.forward, *tape.backward]
        for at, instruction in enumerate(order):
            last.update(dict.fromkeys(_in_arena(instruction), at))
        free: dict[tuple[Rows, int], list[int]] = defaultdict(list)
        for at, instruction in enumerate(order):
            operands = dict.fromkeys(_in_arena(instruction))
            overwritten = _overwritten(instruction, lambda operand, at=at: last[operand] == at)  # type: ignore[misc]
            if overwritten is not None:
                instruction[-1].place = overwritten.place
            for operand in operands:
                if operand.place is None:
                    operand.place = self._take(free, (operand.rows, operand.columns))
            for operand in operands:
                if last[operand] == at and operand is not overwritten:
                    free[operand.rows, operand.columns].append(operand.place)

    def _take(self, free: dict[tuple[Rows, int], list[int]], shape: tuple[Rows, int]) -> int:
        if free[shape]:
            return free[shape].pop()
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def table(self) -> npt.NDArray[np.int64]:
        """Return the slots as `memory.lay_out` takes them."""
        return np.array([[columns, *rows] for rows, columns in self.shapes], np.int64).reshape(-1, 5)

    def elements(self) -> npt.NDArray[np.int64]:
        """Return the coefficients of the number of elements of the arena: of nodes, edges, graphs and 1."""
        table = self.table()
        total: npt.NDArray[np.int64] = (table[:, :1] * table[:, 1:]).sum(axis=0)
        total[3] += ALIGNMENT * (len(table) + 1)
        return total


def encode(instructions: list[Instruction]) -> npt.NDArray[np.int64]:
    """Return instructions as the interpreter takes them."""
    program = np.full((len(instructions), OPERANDS), NONE, np.int64)
    for at, instruction in enumerate(instructions):
        program[at, : len(instruction)] = [x.number if isinstance(x, Operand) else int(x) for x in instruction]
    return program


def _overwritten(instruction: Instruction, is_last: Callable[[Operand], bool]) -> Operand | None:
    """Return the operand in whose place an instruction may write its result; None for a place of its own."""
    code, *operands = instruction
    out = operands[-1]
    if code not in IN_PLACE or out not in (arena := _in_arena(instruction)) or out.place is not None:
        return None
    for number in IN_PLACE[code]:
        operand = operands[number]
        if operand in arena and is_last(operand) and (operand.rows, operand.columns) == (out.rows, out.columns):
            return operand  # type: ignore[no-any-return]
    return None


def _in_arena(instruction: Instruction) -> list[Operand]:
    return [x for x in instruction if isinstance(x, Operand) and x.kind == ARENA]


__all__ = ["ARENA_INPUT", "ONE_ROW", "Memory", "Tape", "encode"]
