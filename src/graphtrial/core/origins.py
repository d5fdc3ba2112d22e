"""Origins: every source file outside this package that defines a thing, by a name without its path, and its SHA-256.

They are part of the identity of trials and of every cache that keeps what such a thing computed. A plug-in goes by its
file name, a module by its dotted name. Of the user's own modules all that they import in turn are included; an
installed package has a version, so only the files that define the thing itself are.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.imports import imported_names, source_file
from graphtrial.core.plugins import MODULE_PREFIX, Plugin, plugin_of_module, registrant

SHORT = 12
"""Hexadecimal digits of the digest that tell files of one name apart."""
_known: WeakKeyDictionary[Any, frozenset[_File]] = WeakKeyDictionary()
"""A class or function is what its file said when it was first looked at, whatever became of the file since."""


@dataclass(frozen=True)
class _File:
    name: str
    digest: str


def origin_digests(*things: Any) -> dict[str, str]:
    """Return the name and SHA-256 of every file outside this package that defines these things; none for built-ins.

    Looked at are their plug-ins, their base classes, what they wrap or hold (decorators, partials, closures, class
    attributes such as a dataset's task), and the user's own modules that these import. Where several files have one
    name, each gets the start of its digest as well, whatever their folders and the order in which they were loaded.
    """
    found = {file for thing in things for file in _files(thing)}
    names = [file.name for file in found]
    keyed = {
        file.name if names.count(file.name) == 1 else f"{file.name}~{file.digest[:SHORT]}": file.digest
        for file in found
    }
    return dict(sorted(keyed.items()))


def _files(thing: Any) -> set[_File]:
    plugin = registrant(thing)
    found = set() if plugin is None else set(_plugin_files(plugin))
    try:
        if thing not in _known:
            _known[thing] = frozenset(_defining_files(thing))
        return found | _known[thing]
    except TypeError:  # what cannot be hashed or weakly referenced
        return found | set(_defining_files(thing))


def _defining_files(thing: Any) -> Iterator[_File]:
    definitions = list(_definitions(thing, set()))
    home = _top(_module(definitions[0])) if definitions else ""
    for definition in definitions:
        module = _module(definition)
        if not module or _top(module) in ("graphtrial", "builtins"):
            continue
        if module.startswith(MODULE_PREFIX):
            yield from _plugin_files(plugin_of_module(module))
            continue
        file = source_file(module)
        if file is None or not file.is_file():
            if definition is definitions[0] or module == "__main__":
                yield _File(module, _sha256(_text(definition)))
        elif not _is_installed(file):
            yield from _with_imports(module, file.read_bytes(), file, set())
        elif _top(module) == home:
            yield _File(module, _sha256(file.read_bytes()))


def _definitions(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the classes and functions that make up a thing, itself first."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    parts: list[Any] = []
    if isinstance(thing, type):
        yield thing
        parts = [*thing.__mro__[1:]]
        module = _module(thing)
        if _top(module) == "graphtrial" or not _is_installed(source_file(module)):
            parts += [getattr(value, "__func__", value) for value in vars(thing).values()]
    elif isinstance(thing, functools.partial):
        parts = [thing.func, *thing.args, *thing.keywords.values()]
    elif isinstance(thing, types.FunctionType | types.BuiltinFunctionType):
        yield thing
        cells = [cell.cell_contents for cell in getattr(thing, "__closure__", None) or () if _is_filled(cell)]
        parts = [getattr(thing, "__wrapped__", None), *cells, *(getattr(thing, "__defaults__", None) or ())]
    else:
        parts = [getattr(thing, "__func__", None), getattr(thing, "__wrapped__", None), type(thing)]
    for part in parts:
        if part is not None:
            yield from _definitions(part, seen)


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a name that its function has not assigned yet
        return False


def _plugin_files(plugin: Plugin) -> Iterator[_File]:
    yield _File(plugin.name, plugin.digest)
    for name in imported_names(plugin.content, ""):
        yield from _own_module(name, set())


def _with_imports(module: str, content: bytes, file: Path, seen: set[str]) -> Iterator[_File]:
    """Yield a module of the user's own and all of those that it imports."""
    if module in seen:
        return
    seen.add(module)
    yield _File(module, _sha256(content))
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for name in imported_names(content, package) if file.suffix == ".py" else ():
        yield from _own_module(name, seen)


def _own_module(name: str, seen: set[str]) -> Iterator[_File]:
    if _top(name) == "graphtrial" or _top(name) in sys.stdlib_module_names:
        return
    file = source_file(name)
    if file is not None and file.is_file() and not _is_installed(file):
        yield from _with_imports(name, file.read_bytes(), file, seen)


def _is_installed(file: Path | None) -> bool:
    """Tell whether a file belongs to Python or to an installed package; what has no file does."""
    if file is None:
        return True
    library = (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return bool({"site-packages", "dist-packages"} & set(file.parts)) or any(map(file.is_relative_to, library))


def _text(definition: Callable[..., Any]) -> bytes:
    """Return the source of something that was defined in a notebook."""
    try:
        return inspect.getsource(definition).encode()
    except (OSError, TypeError) as error:
        raise GraphTrialError(
            f"{definition!r} has no source that could be made part of a trial's identity; define it in a file"
        ) from error


def _module(definition: Any) -> str:
    module = getattr(definition, "__module__", None)
    if module == "__mp_main__":  # what a worker process calls the user's script
        return "__main__"
    return module if isinstance(module, str) else ""


def _top(module: str) -> str:
    return module.partition(".")[0]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
