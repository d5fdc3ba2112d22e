"""Stack machine of the restricted unpickler: binary pickle protocols 2 to 5, data only."""

from __future__ import annotations

import mmap
import pickle
import struct
from collections.abc import Callable
from typing import Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.pickles.arrays import PickledArray, PickledDtype
from graphtrial.io.pickles.opcodes import OPCODES, name_of, pairs_of, set_items
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
    """Pickle stack machine: runs the pickle at `position` and advances `position` past its STOP opcode."""

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
        """Execute opcodes up to STOP and return the object on top of the stack."""
        data, stop = self.data, pickle.STOP[0]
        try:
            while True:
                code = data[self.position]
                self.position += 1
                if code == stop:
                    return self.stack.pop()
                execute = OPCODES.get(code)
                if execute is None:
                    raise RefusedPickleError(f"the pickle uses opcode {code:#04x}, which plain data never needs")
                execute(self)
        except MALFORMED as error:
            raise CorruptFileError(f"not a readable pickle: stopped at byte {self.position} ({error})") from error

    def take(self, count: int) -> bytes:
        """Read `count` bytes."""
        start, self.position = self.position, self.position + count
        if self.position > self.end:
            raise CorruptFileError(f"the pickle is cut off: {self.position - self.end} bytes are missing")
        return self.data[start : self.position]

    def number(self, count: int) -> int:
        """Read an unsigned little-endian integer of `count` bytes."""
        return int.from_bytes(self.take(count), "little")

    def line(self) -> str:
        """Read a line of text."""
        end = self.data.find(b"\n", self.position, self.position + 1000)
        return self.take(end + 1 - self.position)[:-1].decode("utf-8")

    def above_mark(self) -> list[Any]:
        """Pop all items above the last MARK."""
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def put(self, index: int) -> None:
        """Store the top of the stack in the memo (BINPUT, MEMOIZE)."""
        thing = self.stack[-1]
        if index > len(self.memo) + 1:  # Python 2 counts from one
            raise CorruptFileError(f"not a readable pickle: entry {index} follows entry {len(self.memo)}")
        if index >= len(self.memo):
            self.memo.extend([None] * (index + 1 - len(self.memo)))
        self.memo[index] = thing
        if type(thing) is PickledArray:
            thing.memo_indices.append(index)

    def charge(self, arguments: tuple[Any, ...]) -> None:
        """Charge the size of the arguments to a budget, against files that expand by repeating a long argument."""
        self.budget -= sum(len(a) for a in arguments if type(a) in (str, bytes, bytearray, tuple, list, dict, set))
        if self.budget < 0:
            raise RefusedPickleError("the pickle expands to many times its own size")

    def reduce(self) -> None:
        """REDUCE: call an allow-listed constructor."""
        arguments, builder = self.stack.pop(), self.stack.pop()
        if type(builder) is not Builder or type(arguments) is not tuple:
            raise RefusedPickleError(f"the pickle asks to call {name_of(builder)}; nothing was run")
        self.charge(arguments)
        self.stack.append(builder.call(*arguments))

    def new_object(self) -> None:
        """NEWOBJ: create a record."""
        arguments, kind = self.stack.pop(), self.stack.pop()
        if type(kind) is not ForeignClass or type(arguments) is not tuple or arguments:
            raise RefusedPickleError(f"the pickle asks for an object of {name_of(kind)}; nothing was run")
        self.stack.append(Record(kind.kind))

    def build(self) -> None:
        """BUILD: set the state of the object on top of the stack."""
        state, thing = self.stack.pop(), self.stack[-1]
        if type(thing) is PickledArray:
            self.charge(state)
            array = thing.build(state)
            self.stack[-1] = array
            for index in thing.memo_indices:
                self.memo[index] = array
        elif type(thing) is PickledDtype:
            thing.build(state)
        elif type(thing) is Record:
            for part in state if type(state) is tuple else (state,):
                set_items(thing, [] if part is None else pairs_of(part))
        else:
            raise RefusedPickleError(f"the pickle asks to change {name_of(thing)}; nothing was run")

    def persistent_id(self) -> None:
        """BINPERSID: resolve a persistent id, such as a torch storage."""
        if self.persistent is None:
            raise RefusedPickleError("the pickle has a persistent id, which plain data never needs")
        self.stack.append(self.persistent(self.stack.pop()))
