"""Parse MySQL literals: escape sequences, hexadecimal digits, integers."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled


@compiled
def unescaped(byte: int) -> int:
    """Return the byte of the escape sequence of a backslash and this byte."""
    if byte == 48:  # \0
        return 0
    if byte == 110:  # \n
        return 10
    if byte == 114:  # \r
        return 13
    if byte == 116:  # \t
        return 9
    if byte == 98:  # \b
        return 8
    if byte == 90:  # \Z
        return 26
    return byte


@compiled
def hex_digit(byte: int) -> int:
    """Return the value of a hexadecimal digit, -1 for anything else."""
    if 48 <= byte <= 57:
        return int(byte) - 48
    if 97 <= byte | 32 <= 102:
        return int(byte | 32) - 87
    return -1


@compiled
def read_number(data: Array, start: int, stop: int, ints: Array, slot: int, row: int) -> bool:
    """Parse an integer of at most 18 digits into `ints[slot, row]`; return whether it is valid."""
    negative = start < stop and data[start] == 45
    start += negative
    if stop == start or stop - start > 18:
        return False
    value = 0
    for at in range(start, stop):
        if data[at] < 48 or data[at] > 57:
            return False
        value = 10 * value + (int(data[at]) - 48)
    ints[slot, row] = -value if negative else value
    return True
