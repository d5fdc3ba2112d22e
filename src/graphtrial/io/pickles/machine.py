"""The stack machine behind the restricted pickle reader: binary pickles of protocols 2 to 5, data only."""

from __future__ import annotations

import mmap
import pickle
import struct
from collections.abc import Callable
from typing import Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.pickles.arrays import ArrayShell, DtypeShell
from graphtrial.io.pickles.opcodes import STEPS, name_of, pairs_of, set_items
from graphtrial.io.pickles.records import Builder, ForeignClass, Record, RefusedPickleError

MALFORMED = (
    IndexError,
    KeyError,
    ValueError,
    TypeError,
    OverflowError,
    MemoryError,
    AttributeError,
    RecursionError,
    struct.error,
)


class Machine:
    """The stack machine: runs one pickle that starts at `position`, and leaves `position` behind its end."""

    def __init__(
        self,
        data: bytes | mmap.mmap,
        position: int,
        find: Callable[[str, str], Any],
        persistent: Callable[[Any], Any] | None = None,
    ) -> None:
        self.data = data
        self.position = position
        self.end = len(data)
        self.find = find
        self.persistent = persistent
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: list[Any] = []
        self.budget = 4 * len(data) + 100_000

    def run(self) -> Any:
        """Run to the end of the pickle and return what it built."""
        data, stop = self.data, pickle.STOP[0]
        try:
            while True:
                code = data[self.position]
                self.position += 1
                if code == stop:
                    return self.stack.pop()
                step = STEPS.get(code)
                if step is None:
                    raise RefusedPickleError(f"the pickle uses instruction {code:#04x}, which plain data never needs")
                step(self)
        except MALFORMED as error:
            raise CorruptFileError(f"not a readable pickle: stopped at byte {self.position} ({error})") from error

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        start, self.position = self.position, self.position + count
        if self.position > self.end:
            raise CorruptFileError(f"the pickle is cut off: {self.position - self.end} bytes are missing")
        return self.data[start : self.position]

    def number(self, count: int) -> int:
        """Return the next bytes as an integer."""
        return int.from_bytes(self.take(count), "little")

    def line(self) -> str:
        """Return the text up to the next line end."""
        end = self.data.find(b"\n", self.position, self.position + 1000)
        return self.take(end + 1 - self.position)[:-1].decode("utf-8")

    def above_mark(self) -> list[Any]:
        """Remove and return everything above the last mark."""
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def put(self, place: int) -> None:
        """Remember the top of the stack."""
        thing = self.stack[-1]
        if place > len(self.memo) + 1:  # Python 2 counts from one
            raise CorruptFileError(f"not a readable pickle: entry {place} follows entry {len(self.memo)}")
        if place >= len(self.memo):
            self.memo.extend([None] * (place + 1 - len(self.memo)))
        self.memo[place] = thing
        if type(thing) is ArrayShell:
            thing.places.append(place)

    def spend(self, arguments: tuple[Any, ...]) -> None:
        """Count what a builder may copy: a small file that repeats one long argument would fill the memory."""
        self.budget -= sum(len(a) for a in arguments if type(a) in (str, bytes, bytearray, tuple, list, dict, set))
        if self.budget < 0:
            raise RefusedPickleError("the pickle unfolds to many times its own size")

    def reduce(self) -> None:
        """Call a builder of ours."""
        arguments, builder = self.stack.pop(), self.stack.pop()
        if type(builder) is not Builder or type(arguments) is not tuple:
            raise RefusedPickleError(f"the pickle asks to call {name_of(builder)}; nothing was run")
        self.spend(arguments)
        self.stack.append(builder.call(*arguments))

    def new_object(self) -> None:
        """Make a record."""
        arguments, kind = self.stack.pop(), self.stack.pop()
        if type(kind) is not ForeignClass or type(arguments) is not tuple or arguments:
            raise RefusedPickleError(f"the pickle asks for an object of {name_of(kind)}; nothing was run")
        self.stack.append(Record(kind.kind))

    def build(self) -> None:
        """Give state to what the pickle made before."""
        state, thing = self.stack.pop(), self.stack[-1]
        if type(thing) is ArrayShell:
            self.spend(state)
            array = thing.build(state)
            self.stack[-1] = array
            for place in thing.places:
                self.memo[place] = array
        elif type(thing) is DtypeShell:
            thing.build(state)
        elif type(thing) is Record:
            for part in state if type(state) is tuple else (state,):
                set_items(thing, [] if part is None else pairs_of(part))
        else:
            raise RefusedPickleError(f"the pickle asks to change {name_of(thing)}; nothing was run")

    def persistent_id(self) -> None:
        """Resolve a reference to something outside the pickle."""
        if self.persistent is None:
            raise RefusedPickleError("the pickle refers to something outside itself")
        self.stack.append(self.persistent(self.stack.pop()))
