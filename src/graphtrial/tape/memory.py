"""Operands of a program as arrays: views of memory by address, without reference counting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.vector import intrinsic

NODES, EDGES, GRAPHS, CONSTANT = 0, 1, 2, 3  # columns of a symbolic number of rows
ARENA, INPUT, FIXED = 0, 1, 2  # kinds of operands
ALIGNMENT = 16  # elements of a cache line
LARGE_ARENA = 1 << 19  # elements, above which most operands have left the second cache when they are read again
MAX_AHEAD = 1 << 17  # elements, above which an operand would not stay there


@intrinsic
def float_pointer(typing: Any, address: Any) -> Any:
    """Return an address as a pointer to float32."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float32)(types.int64), generate


@intrinsic
def int_pointer(typing: Any, address: Any) -> Any:
    """Return an address as a pointer to int64."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.int64)(types.int64), generate


@compiled
def matrix(table: Array, number: int) -> Array:
    """Return an operand as a float32 matrix [rows, columns]."""
    return carray(float_pointer(table[number, 0]), (table[number, 1], table[number, 2]))


@compiled
def same_place(table: Array, a: int, b: int) -> bool:
    """Return whether two operands are one place in memory: a loop over both could not be vectorised."""
    same: bool = table[a, 0] == table[b, 0]
    return same


@compiled
def vector(table: Array, number: int) -> Array:
    """Return an operand as a flat float32 array."""
    return carray(float_pointer(table[number, 0]), (table[number, 1] * table[number, 2],))


@compiled
def read_ahead(table: Array, number: int, claim: Array) -> None:
    """Read an operand of a large arena from end to end, before a product reads it tile by tile.

    The prefetchers of the processor follow a sequential read, but not tiles: a transposed product of 732 x 80 elements
    takes 95 us in the second cache, 117 from beyond it, and 103 if the operand is read ahead (AMD, AVX-512).
    """
    elements = table[number, 1] * table[number, 2]
    if claim[1] <= LARGE_ARENA or elements > MAX_AHEAD:
        return
    words = carray(int_pointer(table[number, 0]), (elements // 2,))
    bits = np.int64(0)
    for k in range(len(words)):
        bits |= words[k]
    claim[0] = bits  # a result, so that the loop is not optimised away


@compiled
def integers(table: Array, number: int) -> Array:
    """Return an operand as a flat int64 array [rows]."""
    return carray(int_pointer(table[number, 0]), (table[number, 1],))


@compiled
def integer_matrix(table: Array, number: int) -> Array:
    """Return an operand as an int64 matrix, each element of which takes two columns."""
    return carray(int_pointer(table[number, 0]), (table[number, 1], table[number, 2] // 2))


@compiled
def lay_out(operands: Array, slots: Array, inputs: Array, sizes: Array, table: Array) -> int:
    """Fill in `table` [operands, 3]: address, rows and columns of each operand, for a batch of these `sizes`.

    Returns the elements of the arena.

    operands [operands, 7]: kind, place (slot, number of input, address), columns, coefficients of the number of rows;
    slots [slots, 5]: elements per row, coefficients likewise; inputs: addresses, the arena's first; sizes: nodes,
    edges, graphs, 1.
    """
    starts = np.empty(len(slots), np.int64)
    at = np.int64(0)
    for slot in range(len(slots)):
        starts[slot] = at
        rows = np.int64(0)
        for level in range(4):
            rows += slots[slot, 1 + level] * sizes[level]
        at += (rows * slots[slot, 0] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    for number in range(len(operands)):
        kind, place = operands[number, 0], operands[number, 1]
        if kind == ARENA:
            table[number, 0] = inputs[0] + 4 * starts[place]
        elif kind == INPUT:
            table[number, 0] = inputs[place]
        else:
            table[number, 0] = place
        rows = np.int64(0)
        for level in range(4):
            rows += operands[number, 3 + level] * sizes[level]
        table[number, 1] = rows
        table[number, 2] = operands[number, 2]
    elements: int = at
    return elements
