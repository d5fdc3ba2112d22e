"""Origins: SHA-256 of the source files outside this package that define an object, for identities and cache keys.

A plug-in is listed by its file name, a module by its dotted name, both without a path. The user's own modules are
followed through their imports; of an installed package, which has a version, only the defining files are included.
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
from graphtrial.core.plugins.imports import imported_names, source_file
from graphtrial.core.plugins.loader import MODULE_PREFIX, Plugin, plugin_of_module, registrant

SHORT_DIGEST = 12
"""Hexadecimal digits of the digest that distinguish files of the same name."""
_cache: WeakKeyDictionary[Any, frozenset[_File]] = WeakKeyDictionary()
"""Digests at first look: a loaded class or function does not change when its file is edited afterwards."""


@dataclass(frozen=True)
class _File:
    name: str
    digest: str


def origin_digests(*things: Any) -> dict[str, str]:
    """Return name and SHA-256 of every file outside this package that defines these objects; empty for built-ins.

    Included are the plug-in that registered an object, its base classes, objects it wraps or refers to (decorators,
    partials, closures, class attributes such as a dataset's task) and the user's own modules that these import.
    Files of the same name are distinguished by the start of their digest, independent of folder and load order.
    """
    files = {file for thing in things for file in _files(thing)}
    names = [file.name for file in files]
    keyed = {
        file.name if names.count(file.name) == 1 else f"{file.name}~{file.digest[:SHORT_DIGEST]}": file.digest
        for file in files
    }
    return dict(sorted(keyed.items()))


def _files(thing: Any) -> set[_File]:
    plugin = registrant(thing)
    files = set() if plugin is None else set(_plugin_files(plugin))
    try:
        if thing not in _cache:
            _cache[thing] = frozenset(_defining_files(thing))
        return files | _cache[thing]
    except TypeError:  # not hashable or not weakly referenceable
        return files | set(_defining_files(thing))


def _defining_files(thing: Any) -> Iterator[_File]:
    definitions = list(_definitions(thing, set()))
    home = _top_level(_module(definitions[0])) if definitions else ""
    for definition in definitions:
        module = _module(definition)
        if not module or _top_level(module) in ("graphtrial", "builtins"):
            continue
        if module.startswith(MODULE_PREFIX):
            yield from _plugin_files(plugin_of_module(module))
            continue
        file = source_file(module)
        if file is None or not file.is_file():
            if definition is definitions[0] or module == "__main__":
                yield _File(module, _sha256(_source(definition)))
        elif not _is_installed(file):
            yield from _with_imports(module, file.read_bytes(), file, set())
        elif _top_level(module) == home:
            yield _File(module, _sha256(file.read_bytes()))


def _definitions(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Yield an object and, recursively, the classes and functions that it is composed of."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    parts: list[Any] = []
    if isinstance(thing, type):
        yield thing
        parts = [*thing.__mro__[1:]]
        module = _module(thing)
        if _top_level(module) == "graphtrial" or not _is_installed(source_file(module)):
            parts += [getattr(value, "__func__", value) for value in vars(thing).values()]
    elif isinstance(thing, functools.partial):
        parts = [thing.func, *thing.args, *thing.keywords.values()]
    elif isinstance(thing, types.FunctionType | types.BuiltinFunctionType):
        yield thing
        cells = [cell.cell_contents for cell in getattr(thing, "__closure__", None) or () if _has_value(cell)]
        parts = [getattr(thing, "__wrapped__", None), *cells, *(getattr(thing, "__defaults__", None) or ())]
    else:
        parts = [getattr(thing, "__func__", None), getattr(thing, "__wrapped__", None), type(thing)]
    for part in parts:
        if part is not None:
            yield from _definitions(part, seen)


def _has_value(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # empty cell
        return False


def _plugin_files(plugin: Plugin) -> Iterator[_File]:
    yield _File(plugin.name, plugin.digest)
    for name in imported_names(plugin.content, ""):
        yield from _user_module(name, set())


def _with_imports(module: str, content: bytes, file: Path, seen: set[str]) -> Iterator[_File]:
    """Yield a user module and, recursively, the user modules that it imports."""
    if module in seen:
        return
    seen.add(module)
    yield _File(module, _sha256(content))
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for name in imported_names(content, package) if file.suffix == ".py" else ():
        yield from _user_module(name, seen)


def _user_module(name: str, seen: set[str]) -> Iterator[_File]:
    if _top_level(name) == "graphtrial" or _top_level(name) in sys.stdlib_module_names:
        return
    file = source_file(name)
    if file is not None and file.is_file() and not _is_installed(file):
        yield from _with_imports(name, file.read_bytes(), file, seen)


def _is_installed(file: Path | None) -> bool:
    """Return whether a file belongs to the standard library or an installed package; True without a file."""
    if file is None:
        return True
    library = (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return bool({"site-packages", "dist-packages"} & set(file.parts)) or any(map(file.is_relative_to, library))


def _source(definition: Callable[..., Any]) -> bytes:
    """Return the source of an object defined interactively, such as in a notebook."""
    try:
        return inspect.getsource(definition).encode()
    except (OSError, TypeError) as error:
        raise GraphTrialError(
            f"{definition!r} has no source code to hash into the identity of a trial; define it in a file"
        ) from error


def _module(definition: Any) -> str:
    module = getattr(definition, "__module__", None)
    if module == "__mp_main__":  # the name of the user's script in a spawned process
        return "__main__"
    return module if isinstance(module, str) else ""


def _top_level(module: str) -> str:
    return module.partition(".")[0]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
