"""Elementwise instructions that a matrix product computes, and those that it must not."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.helpers.programs import BATCHES, build

from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.fusion import fuse
from graphtrial.tape.memory import FIXED
from graphtrial.tape.program import Tape
from graphtrial.tape.recorder import record
from graphtrial.tape.symbol import NODE_ROWS, ONE_ROW, Operand


@pytest.fixture
def tape() -> Tape:
    return Tape({})


def product(tape: Tape) -> Operand:
    """Append a product and return its result."""
    out, bias = tape.new(NODE_ROWS, 16), tape.input("bias", ONE_ROW, 16)
    tape.emit(codes.LINEAR, tape.input("x", NODE_ROWS, 16), tape.input("weight", NODE_ROWS, 16), bias, out)
    return out


def test_a_product_computes_the_relu_of_its_result(tape: Tape) -> None:
    result, out = product(tape), tape.new(NODE_ROWS, 16)
    tape.emit(codes.RELU, result, out)
    fuse(tape)
    assert [each[0] for each in tape.forward] == [codes.LINEAR]
    assert tape.forward[0][4:] == (out, codes.RELU, NONE)


def test_a_product_adds_to_a_gradient(tape: Tape) -> None:
    before, result, out = (tape.new(NODE_ROWS, 16) for _ in range(3))
    g, weight = tape.input("g", NODE_ROWS, 16), tape.input("weight", NODE_ROWS, 16)
    tape.backward.append((codes.COPY, g, before))
    tape.backward.append((codes.LINEAR_INPUT, g, weight, result))
    tape.backward.append((codes.ADD, before, result, out))
    fuse(tape)
    assert tape.backward[1:] == [(codes.LINEAR_INPUT, g, weight, out, codes.ADD, before)]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_product_adds_an_operand_that_is_written_before_it(tape: Tape, swapped: bool) -> None:
    other = tape.new(NODE_ROWS, 16)
    tape.emit(codes.COPY, tape.input("x", NODE_ROWS, 16), other)
    result, out = product(tape), tape.new(NODE_ROWS, 16)
    tape.emit(codes.ADD, *((result, other) if swapped else (other, result)), out)
    fuse(tape)
    assert [each[0] for each in tape.forward] == [codes.COPY, codes.LINEAR]
    assert tape.forward[1][4:] == (out, codes.ADD, other)


def test_an_operand_that_is_written_after_the_product_is_added_apart(tape: Tape) -> None:
    result, other, out = product(tape), tape.new(NODE_ROWS, 16), tape.new(NODE_ROWS, 16)
    tape.emit(codes.COPY, tape.input("x", NODE_ROWS, 16), other)
    tape.emit(codes.ADD, other, result, out)
    fuse(tape)
    assert [each[0] for each in tape.forward] == [codes.LINEAR, codes.COPY, codes.ADD]


def test_a_result_that_is_read_again_is_kept(tape: Tape) -> None:
    result, out = product(tape), tape.new(NODE_ROWS, 16)
    tape.emit(codes.RELU, result, out)
    tape.backward.append((codes.COPY, result, tape.new(NODE_ROWS, 16)))
    before = [*tape.forward]
    fuse(tape)
    assert tape.forward == before


def test_a_product_has_one_epilogue(tape: Tape) -> None:
    result, y, out = product(tape), tape.new(NODE_ROWS, 16), tape.new(NODE_ROWS, 16)
    tape.emit(codes.RELU, result, y)
    tape.emit(codes.RELU, y, out)
    fuse(tape)
    assert [each[0] for each in tape.forward] == [codes.LINEAR, codes.RELU]


def test_the_gradient_of_a_parameter_is_added_up_apart(tape: Tape) -> None:
    # tiles overlap: a sum in place would be added twice where they do
    own = tape._operand(NODE_ROWS, 16, FIXED, None)
    tape.emit(codes.COPY, tape.input("x", NODE_ROWS, 16), own)
    tape.emit(codes.ADD, own, product(tape), own)
    fuse(tape)
    assert [each[0] for each in tape.forward] == [codes.COPY, codes.LINEAR, codes.ADD]


@pytest.mark.parametrize("training", [True, False])
def test_no_relu_of_a_feed_forward_block_is_an_instruction_of_its_own(training: bool) -> None:
    model = build("gin-plus", encoding_dim=0, edge_features=True, dropout=0.0)
    tape = record(model.train(training), BATCHES[0], training=training)
    assert tape is not None
    assert not [each for each in tape.forward if each[0] == codes.RELU]
    epilogues = Counter(each[5] for each in tape.forward if each[0] == codes.LINEAR and len(each) > 5)
    assert epilogues[codes.RELU] >= 6  # three of each layer
    assert epilogues[codes.ADD] >= 2  # skip connections around feed-forward blocks
