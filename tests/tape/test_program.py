"""Places of operands in the arena."""

from __future__ import annotations

from itertools import permutations

import pytest
from tests.helpers.programs import BATCHES, build
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES

from graphtrial.nn import Shapes, build_model
from graphtrial.tape import codes
from graphtrial.tape.memory import ARENA
from graphtrial.tape.program import IN_PLACE, Memory, Tape
from graphtrial.tape.recorder import record
from graphtrial.tape.symbol import EDGE_ROWS, NODE_ROWS, Operand


def recorded(name: str) -> Tape:
    shapes = Shapes(2, "graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)
    modern = name.endswith("plus") or name in ("gps", "pna")
    model = build_model(name, shapes, {"width": 48, "layers": 3, "edge_features": True}) if modern else build(name)
    tape = record(model.train(), BATCHES[0], training=True)
    assert tape is not None
    return tape


@pytest.mark.parametrize("name", ["gcn", "gin", "graphsage", "gat", "gatedgcn", "gin-plus", "gcn-plus", "gps", "pna"])
def test_operands_in_one_place_are_not_alive_at_the_same_time(name: str) -> None:
    tape = recorded(name)
    Memory(tape)
    order = [*tape.forward, *tape.backward]
    lives: dict[Operand, tuple[int, int]] = {}
    for at, instruction in enumerate(order):
        for operand in instruction:
            if isinstance(operand, Operand) and operand.kind == ARENA:
                lives[operand] = lives.get(operand, (at, at))[0], at
    by_place: dict[int, list[Operand]] = {}
    for operand in lives:
        by_place.setdefault(operand.place, []).append(operand)
    shared = 0
    for operands in by_place.values():
        for a, b in permutations(operands, 2):
            assert (a.rows, a.columns) == (b.rows, b.columns)
            if lives[a][0] > lives[b][0]:
                continue
            if lives[a][1] == lives[b][0]:  # b is written where a is read for the last time
                code, *rest = order[lives[b][0]]
                assert a in [rest[number] for number in IN_PLACE[code]]
                assert rest[-1] is b
                shared += 1
            else:
                assert lives[a][1] < lives[b][0]
    assert shared > 0


def test_a_value_that_is_read_later_is_not_overwritten() -> None:
    for reads, expected in ((0, True), (1, False)):
        tape = Tape({})
        a, b, out, last = (tape.new(NODE_ROWS, 4) for _ in range(4))
        tape.emit(codes.COPY, tape.input("x", NODE_ROWS, 4), a)
        tape.emit(codes.COPY, tape.input("x", NODE_ROWS, 4), b)
        tape.emit(codes.ADD, a, b, out)
        tape.emit(codes.ADD, out, b if not reads else a, last)
        Memory(tape)
        assert (out.place == a.place) is expected
        assert (out.place == b.place) is not expected


def test_a_result_of_another_shape_has_its_own_place() -> None:
    tape = Tape({})
    x, y, out = tape.new(NODE_ROWS, 4), tape.new(EDGE_ROWS, 4), tape.new(EDGE_ROWS, 4)
    tape.emit(codes.COPY, tape.input("x", NODE_ROWS, 4), x)
    tape.emit(codes.COPY, tape.input("e", EDGE_ROWS, 4), y)
    tape.emit(codes.RELU_BACKWARD, x, y, out)
    Memory(tape)
    assert len({x.place, y.place, out.place}) == 3
