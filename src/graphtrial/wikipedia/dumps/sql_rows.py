"""Compiled parser of the rows of mysqldump's `INSERT INTO t VALUES (1,'a',NULL),(2,'b',3);`."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.wikipedia.dumps.sql_literals import hex_digit, read_number, unescaped

MORE, ENDED, LINE, FULL = 0, 1, 2, 3
"""Stop reasons of the parser: more bytes needed, semicolon, end of line, output full."""
NULL = -(2**62)
"""Sentinel of NULL in an integer column."""
_GOOD, _BROKEN, _INCOMPLETE = 1, 0, -1


@compiled
def scan_rows(
    data: Array,
    start: int,
    skipping: bool,
    int_slot: Array,
    text_slot: Array,
    may_be_null: Array,
    ints: Array,
    texts: Array,
    ends: Array,
    rows: int,
) -> tuple[int, int, int, int, bool]:
    """Parse rows from `data[start:]`; return stop position, stop reason, rows, broken rows, and whether it is skipping.

    The arrays hold `rows` rows before, which the returned number includes. Column i goes to `ints[int_slot[i]]`, or,
    unescaped, to `texts[text_slot[i]]` up to `ends[text_slot[i], row + 1]`; slot -1 discards it. A row with
    another number of columns, with NULL where `may_be_null[i]` is false, without its closing quote on the line or with
    anything else where an integer or a comma must be is broken; all up to the next `),(` or the end of the line
    belongs to it.
    """
    place, broken, limit = start, 0, len(data)
    while True:
        if skipping:
            while place < limit and data[place] != 10:
                if data[place] == 41 and place + 2 < limit and data[place + 1] == 44 and data[place + 2] == 40:
                    place += 2
                    skipping = False
                    break
                if data[place] == 41 and place + 2 >= limit:
                    return place, MORE, rows, broken, True
                place += 1
            if place >= limit:
                return place, MORE, rows, broken, True
            skipping = False
        while place < limit and (data[place] == 32 or data[place] == 44 or data[place] == 13 or data[place] == 9):
            place += 1
        if place >= limit:
            return place, MORE, rows, broken, False
        if data[place] == 59:
            return place + 1, ENDED, rows, broken, False
        if data[place] == 10:
            return place, LINE, rows, broken, False
        if rows == ints.shape[1]:
            return place, FULL, rows, broken, False
        end, state = place, _BROKEN
        if data[place] == 40:
            end, state = _row(data, place + 1, int_slot, text_slot, may_be_null, ints, texts, ends, rows)
        if state == _INCOMPLETE:
            return place, MORE, rows, broken, False
        if state == _GOOD:
            rows += 1
        else:
            broken += 1
            skipping = True
        place = end


@compiled
def _row(
    data: Array,
    place: int,
    int_slot: Array,
    text_slot: Array,
    may_be_null: Array,
    ints: Array,
    texts: Array,
    ends: Array,
    row: int,
) -> tuple[int, int]:
    limit, columns = len(data), len(int_slot)
    for column in range(columns):
        while place < limit and data[place] == 32:
            place += 1
        if place + 9 >= limit and _has_no_row_end(data, place):
            return place, _INCOMPLETE
        if data[place] == 95:  # _binary 'text'
            while place < limit and data[place] != 39 and data[place] != 44 and data[place] != 10:
                place += 1
            if place >= limit:
                return place, _INCOMPLETE
        slot = text_slot[column]
        if data[place] == 39:
            if int_slot[column] >= 0:
                place, state = _quoted_number(data, place + 1, ints, int_slot[column], row)
            else:
                place, state = _quoted(data, place + 1, texts, ends, slot, row)
        else:
            place, state = _plain(data, place, int_slot[column], slot, may_be_null[column], ints, texts, ends, row)
        if state != _GOOD:
            return place, state
        while place < limit and data[place] == 32:
            place += 1
        if place >= limit:
            return place, _INCOMPLETE
        if data[place] != (41 if column == columns - 1 else 44):
            return place, _BROKEN
        place += 1
    return place, _GOOD


@compiled
def _has_no_row_end(data: Array, place: int) -> bool:
    """Return whether the remaining bytes hold no end of a row or line, so that a token may be cut in two."""
    has_end = False
    for other in range(place, len(data)):
        has_end |= data[other] == 41 or data[other] == 10
    return not has_end


@compiled
def _quoted(data: Array, place: int, texts: Array, ends: Array, slot: int, row: int) -> tuple[int, int]:
    limit = len(data)
    to = ends[slot, row] if slot >= 0 else 0
    while place < limit:
        byte = data[place]
        if byte == 10:
            return place, _BROKEN
        if byte == 39:
            if place + 1 >= limit:
                return place, _INCOMPLETE
            if data[place + 1] != 39:
                if slot >= 0:
                    ends[slot, row + 1] = to
                return place + 1, _GOOD
            place += 1
        elif byte == 92:
            place += 1
            if place >= limit:
                return place, _INCOMPLETE
            byte = data[place]
            if byte == 10:
                return place, _BROKEN
            if (byte == 37 or byte == 95) and slot >= 0:  # \% and \_ keep their backslash
                texts[slot, to] = 92
                to += 1
            byte = unescaped(byte)
        if slot >= 0:
            texts[slot, to] = byte
            to += 1
        place += 1
    return place, _INCOMPLETE


@compiled
def _quoted_number(data: Array, place: int, ints: Array, slot: int, row: int) -> tuple[int, int]:
    start = place
    while place < len(data) and data[place] != 39 and data[place] != 10:
        place += 1
    if place >= len(data):
        return place, _INCOMPLETE
    if data[place] == 10 or not read_number(data, start, place, ints, slot, row):
        return place, _BROKEN
    return place + 1, _GOOD


@compiled
def _plain(
    data: Array,
    place: int,
    int_slot: int,
    text_slot: int,
    may_be_null: bool,
    ints: Array,
    texts: Array,
    ends: Array,
    row: int,
) -> tuple[int, int]:
    """Parse an unquoted literal: a number, NULL or 0x...."""
    start, limit = place, len(data)
    while place < limit and data[place] != 44 and data[place] != 41:
        if data[place] == 10 or data[place] == 39 or data[place] == 40:
            return place, _BROKEN
        place += 1
    if place >= limit:
        return place, _INCOMPLETE
    stop = place
    while stop > start and data[stop - 1] == 32:
        stop -= 1
    null = stop - start == 4 and data[start] | 32 == 110 and data[start + 1] | 32 == 117  # NULL in any case
    null = null and data[start + 2] | 32 == 108 and data[start + 3] | 32 == 108
    if stop == start or (null and not may_be_null):
        return place, _BROKEN
    if int_slot >= 0:
        if null:
            ints[int_slot, row] = NULL
        elif not read_number(data, start, stop, ints, int_slot, row):
            return place, _BROKEN
    if text_slot >= 0:
        to = ends[text_slot, row]
        if not null and stop - start >= 2 and data[start] == 48 and data[start + 1] | 32 == 120:
            if (stop - start) % 2:
                return place, _BROKEN
            for at in range(start + 2, stop, 2):
                high, low = hex_digit(data[at]), hex_digit(data[at + 1])
                if high < 0 or low < 0:
                    return place, _BROKEN
                texts[text_slot, to] = 16 * high + low
                to += 1
        elif not null:
            for at in range(start, stop):
                texts[text_slot, to] = data[at]
                to += 1
        ends[text_slot, row + 1] = to
    return place, _GOOD
