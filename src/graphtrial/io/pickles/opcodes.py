"""Pickle opcodes of the restricted stack machine; any other opcode is refused."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.pickles.records import Record, RefusedPickleError, plain_key

if TYPE_CHECKING:
    from graphtrial.io.pickles.machine import Machine


def name_of(thing: Any) -> str:
    """Return a description of an object for error messages."""
    return str(getattr(thing, "name", None) or getattr(thing, "kind", None) or f"a {type(thing).__name__}")


def pairs_of(part: Any) -> list[tuple[Any, Any]]:
    """Return the items of an object's state."""
    if type(part) not in (dict, Record):
        raise RefusedPickleError(f"the pickle gives an object a {type(part).__name__} as its state")
    return list((part.attributes if type(part) is Record else part).items())


def set_items(target: Any, pairs: list[tuple[Any, Any]]) -> None:
    """Set items of a dict or attributes of a record."""
    if type(target) not in (dict, Record):
        raise RefusedPickleError(f"the pickle asks to set items of {name_of(target)}; nothing was run")
    items = target.attributes if type(target) is Record else target
    for key, value in pairs:
        items[plain_key(key)] = value


def _extend(target: Any, items: list[Any]) -> None:
    if type(target) is set:
        target.update(map(plain_key, items))
    elif type(target) is list:
        target.extend(items)
    else:
        raise RefusedPickleError(f"the pickle asks to extend {name_of(target)}; nothing was run")


def _string(machine: Machine, width: int) -> str:
    return str(machine.take(machine.number(width)), "utf-8", "surrogatepass")


def _python2_string(machine: Machine, width: int) -> str:
    # Python 2 strings are text or bytes; latin-1 preserves both.
    return str(machine.take(machine.number(width)), "latin-1")


def _signed(machine: Machine, width: int) -> int:
    return int.from_bytes(machine.take(width), "little", signed=True)


def _tuple(machine: Machine, count: int) -> None:
    items = tuple(machine.stack[-count:])
    if len(items) != count:
        raise CorruptFileError("not a readable pickle: a tuple lacks members")
    machine.stack[-count:] = [items]


def _dict_of(items: list[Any]) -> dict[Any, Any]:
    built: dict[Any, Any] = {}
    set_items(built, list(zip(items[::2], items[1::2], strict=True)))
    return built


def _extend_top(machine: Machine, items: list[Any]) -> None:
    _extend(machine.stack[-1], items)


def _set_items_of_top(machine: Machine, items: list[Any]) -> None:
    set_items(machine.stack[-1], list(zip(items[::2], items[1::2], strict=True)))


def _pop(machine: Machine, count: int) -> list[Any]:
    items = machine.stack[-count:]
    del machine.stack[-count:]
    return items


def _push_global(machine: Machine, module: Any, name: Any) -> None:
    if type(module) is not str or type(name) is not str:
        raise RefusedPickleError("the pickle has a global whose name is not a string")
    machine.stack.append(machine.find(module, name))


def _push(make: Callable[[Machine], Any]) -> Callable[[Machine], None]:
    return lambda machine: machine.stack.append(make(machine))


OPCODES: dict[int, Callable[[Machine], Any]] = {
    code[0]: step
    for code, step in {
        pickle.PROTO: lambda m: m.take(1),
        pickle.FRAME: lambda m: m.take(8),
        pickle.MARK: lambda m: m.marks.append(len(m.stack)),
        pickle.POP: lambda m: m.stack.pop(),
        pickle.POP_MARK: lambda m: m.above_mark(),
        pickle.DUP: _push(lambda m: m.stack[-1]),
        pickle.NONE: _push(lambda m: None),
        pickle.NEWTRUE: _push(lambda m: True),
        pickle.NEWFALSE: _push(lambda m: False),
        pickle.BININT: _push(lambda m: _signed(m, 4)),
        pickle.BININT1: _push(lambda m: m.number(1)),
        pickle.BININT2: _push(lambda m: m.number(2)),
        pickle.LONG1: _push(lambda m: _signed(m, m.number(1))),
        pickle.LONG4: _push(lambda m: _signed(m, m.number(4))),
        pickle.BINFLOAT: _push(lambda m: struct.unpack(">d", m.take(8))[0]),
        pickle.SHORT_BINSTRING: _push(lambda m: _python2_string(m, 1)),
        pickle.BINSTRING: _push(lambda m: _python2_string(m, 4)),
        pickle.SHORT_BINUNICODE: _push(lambda m: _string(m, 1)),
        pickle.BINUNICODE: _push(lambda m: _string(m, 4)),
        pickle.BINUNICODE8: _push(lambda m: _string(m, 8)),
        pickle.SHORT_BINBYTES: _push(lambda m: m.take(m.number(1))),
        pickle.BINBYTES: _push(lambda m: m.take(m.number(4))),
        pickle.BINBYTES8: _push(lambda m: m.take(m.number(8))),
        pickle.BYTEARRAY8: _push(lambda m: bytearray(m.take(m.number(8)))),
        pickle.EMPTY_LIST: _push(lambda m: []),
        pickle.LIST: _push(lambda m: m.above_mark()),
        pickle.APPEND: lambda m: _extend_top(m, _pop(m, 1)),
        pickle.APPENDS: lambda m: _extend_top(m, m.above_mark()),
        pickle.EMPTY_TUPLE: _push(lambda m: ()),
        pickle.TUPLE: _push(lambda m: tuple(m.above_mark())),
        pickle.TUPLE1: lambda m: _tuple(m, 1),
        pickle.TUPLE2: lambda m: _tuple(m, 2),
        pickle.TUPLE3: lambda m: _tuple(m, 3),
        pickle.EMPTY_DICT: _push(lambda m: {}),
        pickle.DICT: _push(lambda m: _dict_of(m.above_mark())),
        pickle.SETITEM: lambda m: _set_items_of_top(m, _pop(m, 2)),
        pickle.SETITEMS: lambda m: _set_items_of_top(m, m.above_mark()),
        pickle.EMPTY_SET: _push(lambda m: set()),
        pickle.ADDITEMS: lambda m: _extend_top(m, m.above_mark()),
        pickle.FROZENSET: _push(lambda m: frozenset(map(plain_key, m.above_mark()))),
        pickle.BINPUT: lambda m: m.put(m.number(1)),
        pickle.LONG_BINPUT: lambda m: m.put(m.number(4)),
        pickle.MEMOIZE: lambda m: m.put(len(m.memo)),
        pickle.BINGET: _push(lambda m: m.memo[m.number(1)]),
        pickle.LONG_BINGET: _push(lambda m: m.memo[m.number(4)]),
        pickle.GLOBAL: lambda m: _push_global(m, m.line(), m.line()),
        pickle.STACK_GLOBAL: lambda m: _push_global(m, *_pop(m, 2)),
        pickle.REDUCE: lambda m: m.reduce(),
        pickle.NEWOBJ: lambda m: m.new_object(),
        pickle.BUILD: lambda m: m.build(),
        pickle.BINPERSID: lambda m: m.persistent_id(),
    }.items()
}
