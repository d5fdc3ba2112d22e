"""Fusion of elementwise instructions into the matrix product whose result they read.

A product finishes its tiles in registers; an instruction of its own reads and writes the matrix once more. The gradient
of ReLU is one: it would read the result of ReLU, which has left the cache, tile by tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.memory import ARENA
from graphtrial.tape.program import Instruction, Tape
from graphtrial.tape.symbol import Operand

RESULT = {codes.LINEAR: 4, codes.LINEAR_INPUT: 3}
"""Products that may have an epilogue, `LINEAR` only with bias, and the position of their result in the instruction."""
BIAS = 3
Epilogue = tuple[Operand, int, Operand | int]
"""Result of a product that is finished, code of the epilogue, and operand that is added, or `NONE`."""


def fuse(tape: Tape) -> None:
    """Let products compute the ReLU or the sum that alone reads their result; same bits."""
    order: list[Instruction] = [*tape.forward, *tape.backward]
    first: dict[Operand, int] = {}
    uses: Counter[Operand] = Counter()
    for at, instruction in enumerate(order):
        for operand in instruction:
            if isinstance(operand, Operand):
                first.setdefault(operand, at)
                uses[operand] += 1
    products: dict[Operand, int] = {}
    fused: set[int] = set()
    for at, instruction in enumerate(order):
        code, out = instruction[0], instruction[-1]
        if code in RESULT and (code != codes.LINEAR or instruction[BIAS] != NONE):
            products[instruction[RESULT[code]]] = at
        for result, epilogue, other in _epilogues(instruction):
            place = products.get(result)
            if place is None or uses[result] != 2 or {result.kind, out.kind} != {ARENA} or out is other:
                continue
            if isinstance(other, Operand) and first[other] >= place:
                continue
            product = order[place]
            order[place] = *product[: RESULT[product[0]]], out, epilogue, other
            del products[result]
            fused.add(at)
            break
    first_backward = len(tape.forward)
    tape.forward[:] = [each for at, each in enumerate(order) if at < first_backward and at not in fused]
    tape.backward[:] = [each for at, each in enumerate(order) if at >= first_backward and at not in fused]


def _epilogues(instruction: Instruction) -> Iterator[Epilogue]:
    """Yield the ways in which an instruction finishes a product."""
    code, *operands = instruction
    if code == codes.RELU:
        yield operands[0], codes.RELU, NONE
    elif code == codes.ADD:
        yield operands[0], codes.ADD, operands[1]
        yield operands[1], codes.ADD, operands[0]
