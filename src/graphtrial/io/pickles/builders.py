"""Allow-list of globals in a pickle, each with our own safe constructor."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

from graphtrial.io.pickles.arrays import STORAGES, PickledArray, PickledDtype, array_of, sizes_of, tensor_of
from graphtrial.io.pickles.records import Builder, ForeignClass, Record, RefusedPickleError, Token, plain_key


def find_builtin(module: str, name: str) -> Any:
    """Return our substitute for the global `module.name`, or None if it is not on the allow-list."""
    if module == "torch" and name in STORAGES:
        return Token(name)
    # scipy.sparse.coo, scipy.sparse._coo, scipy.sparse.csr ...: the module was renamed, the attributes were not.
    if re.fullmatch(r"scipy\.sparse\._?\w+", module) and re.fullmatch(r"(coo|csr|csc)_(matrix|array)", name):
        return ForeignClass(f"scipy.sparse.{name}")
    return BUILTINS.get((module.replace("numpy._core", "numpy.core"), name))


def _scalar(dtype: Any, data: Any) -> Any:
    return array_of(data, dtype, (1,))[0]


def _encode(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise RefusedPickleError(f"the pickle asks to encode text as {reprlib.repr(encoding)}; only latin1 is read")
    return text.encode("latin-1")


def _ordered_dict(items: Sequence[Any] = ()) -> dict[Any, Any]:
    return {plain_key(key): value for key, value in items}


def _default_dict(factory: Any = None, items: Sequence[Any] = ()) -> dict[Any, Any]:
    return _ordered_dict(items)


def _reconstruct(kind: Any, base: Any, state: Any) -> Record:
    if not isinstance(kind, ForeignClass) or state is not None:
        raise RefusedPickleError("the pickle reconstructs an object that is not a plain record")
    return Record(kind.kind)


def _set_builder(kind: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda items=(): kind(plain_key(item) for item in items)


def _builders() -> dict[tuple[str, str], Any]:
    calls: dict[tuple[str, str], Callable[..., Any]] = {
        ("numpy.core.multiarray", "_reconstruct"): PickledArray,
        ("numpy.core.multiarray", "scalar"): _scalar,
        ("numpy.core.numeric", "_frombuffer"): array_of,
        ("numpy", "dtype"): PickledDtype,
        ("torch._utils", "_rebuild_tensor"): tensor_of,
        ("torch._utils", "_rebuild_tensor_v2"): tensor_of,
        ("torch", "Size"): lambda sizes=(): sizes_of(sizes),
        ("collections", "OrderedDict"): _ordered_dict,
        ("collections", "defaultdict"): _default_dict,
        ("_codecs", "encode"): _encode,
        ("copy_reg", "_reconstructor"): _reconstruct,
        ("copyreg", "_reconstructor"): _reconstruct,
    }
    for module in ("builtins", "__builtin__"):
        calls |= {(module, kind.__name__): _set_builder(kind) for kind in (set, frozenset)}
        calls |= {(module, "bytes"): _bytes, (module, "bytearray"): _bytes}
    tokens = [
        ("numpy", "ndarray"),
        *((module, name) for module in ("builtins", "__builtin__") for name in ("list", "object")),
    ]
    return {key: Builder(".".join(key), call) for key, call in calls.items()} | {key: Token(key[1]) for key in tokens}


def _bytes(data: Any = b"") -> bytes:
    if not isinstance(data, (bytes, bytearray)):
        raise RefusedPickleError("the pickle builds bytes from an unsupported value")
    return bytes(data)


BUILTINS = _builders()
