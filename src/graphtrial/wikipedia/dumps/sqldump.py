"""Streaming reader of mysqldump files: columns by their names in CREATE TABLE, rows as batches of Arrow columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.progress import Advance
from graphtrial.wikipedia.dumps.parquet import library
from graphtrial.wikipedia.dumps.sql_rows import ENDED, FULL, LINE, scan_rows
from graphtrial.wikipedia.dumps.streams import TruncatedError, blocks

ROWS = 1 << 17
LONGEST = 1 << 28
"""Maximum bytes of a row or line; longer ones are discarded as corrupt."""
HEADER = 1 << 16
"""Maximum bytes of an INSERT statement before its rows."""
_INSERT = re.compile(rb"(?:INSERT(?:\s+IGNORE)?|REPLACE)\s+INTO\s+[`\"]?(\w+)[`\"]?\s*(\([^()]*\))?\s*VALUES", re.I)
_CREATE = re.compile(rb"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[`\"]?(\w+)[`\"]?\s*\(", re.I)
_COLUMN = re.compile(rb"\s*[`\"](\w+)[`\"]\s+\w")


@dataclass(frozen=True)
class Wanted:
    """A column to read: integers, NULL as -2^62 if `optional`, or text, NULL as an empty string."""

    name: str
    kind: Literal["int", "text"]
    optional: bool = False


@dataclass
class Counts:
    """Counts of parsed, broken and repaired rows of a dump."""

    rows: int = 0
    broken: int = 0
    repaired: int = 0
    truncated: bool = False
    seen: list[str] = field(default_factory=list)


Choose = Callable[[list[str]], list[Wanted]]


def read_table(
    path: Path, table: str, choose: Choose, counts: Counts, advance: Advance, *, allow_truncated: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield batches of the rows of a table as dictionaries of columns; the last batch may be empty.

    `choose` maps the column names of the table to those to read. Broken rows, and texts with invalid UTF-8 replaced
    (`repaired`), are counted in `counts`.
    """
    reader = _Reader(path.name, table, choose, counts)
    try:
        for _, block in blocks(path, advance):
            yield from reader.feed(block)
    except TruncatedError:
        if not allow_truncated:
            raise
        counts.truncated = True
    yield from reader.finish()


class _Reader:
    """Incremental parser: state between two blocks of a dump."""

    def __init__(self, file: str, table: str, choose: Choose, counts: Counts) -> None:
        self.file, self.table, self.choose, self.counts = file, table.encode(), choose, counts
        self.rest = b""
        self.in_rows = self.in_create = self.skipping = self.junk = False
        self.columns: list[str] = []
        self.output = _Output([], [], counts)
        self.ready: list[dict[str, Any]] = []

    def feed(self, block: bytes) -> Iterator[dict[str, Any]]:
        data, place = self.rest + block if self.rest else block, 0
        while True:
            before, was_in_rows = place, self.in_rows
            place = self._rows(data, place) if was_in_rows else self._line(data, place)
            yield from self.ready
            self.ready = []
            if self.in_rows if was_in_rows else place == before:
                break
        self.rest = data[place:]
        if len(self.rest) > LONGEST:
            self.counts.broken += self.in_rows
            self.skipping, self.junk, self.rest = self.in_rows, not self.in_rows, b""

    def finish(self) -> Iterator[dict[str, Any]]:
        yield from self.feed(b"\n")
        if not self.output.names and self.columns:
            self.output = _Output(self.columns, self.choose(self.columns), self.counts)
        if self.output.names:
            yield self.output.batch()

    def _line(self, data: bytes, place: int) -> int:
        """Parse one line outside of rows; return the position after it, or the same one if more bytes are needed."""
        end = data.find(b"\n", place)
        if self.junk:
            self.junk = end < 0
            return len(data) if end < 0 else end + 1
        if end < 0:
            # A line of rows may be very long; its beginning suffices.
            return (self._insert(data, place, len(data)) or place) if len(data) - place > HEADER else place
        if self.in_create:
            matched = _COLUMN.match(data, place, end)
            if matched:
                self.columns.append(matched[1].decode())
            elif data[place:end].lstrip().startswith(b")"):
                self.in_create = False
            return end + 1
        created = _CREATE.match(data, place, end)
        if created:
            self.counts.seen.append(created[1].decode())
            if created[1] == self.table:
                self.in_create, self.columns = True, []
            return end + 1
        return self._insert(data, place, end) or end + 1

    def _insert(self, data: bytes, place: int, end: int) -> int | None:
        """Return where the rows begin if the line is an INSERT INTO this table."""
        inserted = _INSERT.match(data, place, end)
        if not inserted or inserted[1] != self.table:
            return None
        names = re.findall(r"\w+", inserted[2].decode()) if inserted[2] else self.columns
        if not names:
            raise CorruptFileError(f"{self.file} has rows of {self.table.decode()} before CREATE TABLE names them")
        if self.output.names != names:
            self.ready += self.output.flush()
            self.output = _Output(names, self.choose(names), self.counts)
        self.in_rows = True
        return inserted.end()

    def _rows(self, data: bytes, place: int) -> int:
        """Parse rows; return the position after the last complete one; `in_rows` becomes false after the last row."""
        output = self.output
        view = np.frombuffer(data, np.uint8)
        while True:
            output.make_room(len(view) - place)
            place, why, self.skipping = output.scan(view, place, self.skipping)
            if why == FULL:
                self.ready += output.flush()
                continue
            if why == LINE and place + 1 < len(view):
                place += 1
                if data[place : place + 1] in (b"(", b" ", b"\t", b","):
                    continue
                self.in_rows = False
            # Where line and block end at the same byte, the next block decides whether rows continue.
            self.in_rows = self.in_rows and why != ENDED
            if output.is_heavy:
                self.ready += output.flush()
            return place


class _Output:
    """Output buffer of parsed rows."""

    def __init__(self, names: list[str], wanted: list[Wanted], counts: Counts) -> None:
        missing = [column.name for column in wanted if column.name not in names]
        if missing:
            raise CorruptFileError(f"the dump has no column {', '.join(missing)}; it has {', '.join(names)}")
        self.names, self.wanted, self.counts = names, wanted, counts
        self.numbers = [column for column in wanted if column.kind == "int"]
        self.texts = [column for column in wanted if column.kind == "text"]
        by_name = {column.name: column for column in wanted}
        self.int_slot = np.array([_slot(self.numbers, name) for name in names], np.int64)
        self.text_slot = np.array([_slot(self.texts, name) for name in names], np.int64)
        self.may_be_null = np.array([name not in by_name or by_name[name].optional for name in names], np.bool_)
        self.bytes = np.empty((len(self.texts), 0), np.uint8)
        self._start()

    def _start(self) -> None:
        self.rows = 0
        self.ints = np.empty((len(self.numbers), ROWS), np.int64)
        self.ends = np.zeros((len(self.texts), ROWS + 1), np.int64)

    @property
    def is_heavy(self) -> bool:
        return self.rows > ROWS // 2 or (self.rows > 0 and int(self.ends[:, self.rows].max(initial=0)) > 1 << 24)

    def make_room(self, more: int) -> None:
        used = int(self.ends[:, self.rows].max(initial=0))
        if self.bytes.shape[1] < used + more + 16:
            grown = np.empty((len(self.texts), used + more + more // 4 + (1 << 16)), np.uint8)
            grown[:, :used] = self.bytes[:, :used]
            self.bytes = grown

    def scan(self, view: Any, place: int, skipping: bool) -> tuple[int, int, bool]:
        slots = (self.int_slot, self.text_slot, self.may_be_null)
        arrays = (*slots, self.ints, self.bytes, self.ends)
        place, why, rows, broken, skipping = scan_rows(view, place, skipping, *arrays, self.rows)
        self.counts.rows += rows - self.rows
        self.rows = rows
        self.counts.broken += broken
        return place, why, skipping

    def flush(self) -> list[dict[str, Any]]:
        return [self.batch()] if self.rows else []

    def batch(self) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for column, values in zip(self.numbers, self.ints, strict=True):
            columns[column.name] = values[: self.rows].copy()
        for column, data, ends in zip(self.texts, self.bytes, self.ends, strict=True):
            columns[column.name] = _strings(data, ends[: self.rows + 1], self.counts)
        self._start()
        return columns


def _slot(columns: list[Wanted], name: str) -> int:
    return next((number for number, column in enumerate(columns) if column.name == name), -1)


def _strings(data: Any, ends: Any, counts: Counts) -> Any:
    """Return the texts as an Arrow array of strings, invalid UTF-8 replaced."""
    pyarrow = library("pyarrow")
    buffers = [None, pyarrow.py_buffer(ends.tobytes()), pyarrow.py_buffer(data[: ends[-1]].tobytes())]
    raw = pyarrow.Array.from_buffers(pyarrow.large_binary(), len(ends) - 1, buffers)
    try:
        return raw.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        values = raw.to_pylist()
        texts = [value.decode("utf-8", "replace") for value in values]
        counts.repaired += sum(text.encode() != value for text, value in zip(texts, values, strict=True))
        return pyarrow.array(texts, pyarrow.large_string())
