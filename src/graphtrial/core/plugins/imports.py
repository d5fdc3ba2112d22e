"""Import an attribute by its dotted path or a registered class by its name; locate modules without importing them."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean, in_one_line

if TYPE_CHECKING:
    from graphtrial.core.registry import Registry

CLASS_NAME = re.compile(r"[A-Z]\w*")
"""Names of classes; others, such as those of submodules, never load a registry."""


def import_attribute(path: str) -> Any:
    """Import `package.module:attribute`; the caller has checked that it is allowed."""
    module_name, _, attribute = path.partition(":")
    if not module_name or module_name.startswith("."):
        raise UnknownNameError(f"cannot import '{module_name}' of '{path}': write it as package.module:attribute")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        hint = f"; for a file of your own use --plugin {module_name}.py" if Path(f"{module_name}.py").is_file() else ""
        raise UnknownNameError(f"cannot import '{module_name}' of '{path}': {error}{hint}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # importing runs code, which may raise anything, SystemExit too
        raise GraphTrialError(f"cannot import '{module_name}' of '{path}': {in_one_line(error)}") from error
    try:
        return functools.reduce(getattr, attribute.split("."), module)
    except AttributeError:
        raise UnknownNameError(
            f"module '{module_name}' has no '{attribute}'.{did_you_mean(attribute, dir(module))}"
        ) from None


def source_file(module: str) -> Path | None:
    """Return the source file of a module by its dotted name, without importing it, or None."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        file = getattr(loaded, "__file__", None)
        return Path(file) if isinstance(file, str) else None
    folders: Sequence[str] | None = None
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        try:
            spec = PathFinder.find_spec(".".join(parts[:length]), folders)
        except (ImportError, ValueError, OSError):
            return None
        if spec is None:
            return None
        folders = spec.submodule_search_locations
        if folders is None and length < len(parts):
            return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def imported_names(content: bytes, package: str) -> list[str]:
    """Return the dotted names that a source file imports; relative ones are resolved against `package`.

    For `from a import b` this includes `a.b`, which may be a module.
    """
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _resolve_relative(node.module or "", node.level, package)
            imported = [base, *(f"{base}.{alias.name}" for alias in node.names)] if base else []
        else:
            continue
        for name in imported:
            parts = name.split(".")
            names |= dict.fromkeys(".".join(parts[:length]) for length in range(1, len(parts) + 1))
    return list(names)


def _resolve_relative(name: str, level: int, package: str) -> str:
    if not level:
        return name
    parents = package.split(".")
    if level > len(parents):
        return ""
    return ".".join(filter(None, [*parents[: len(parents) - level + 1], name]))


def builtin_classes(registry: Registry[Any]) -> dict[str, Any]:
    """Return the classes of this package in a registry, by class name."""
    things = registry.contents().things.values()
    return {
        thing.__name__: thing
        for thing in things
        if isinstance(thing, type) and thing.__module__.startswith("graphtrial.")
    }


def class_attribute(package: str, registry: Registry[Any], name: str) -> Any:
    """Return a registered class by its class name; for the `__getattr__` of a package."""
    classes = builtin_classes(registry) if CLASS_NAME.fullmatch(name) else {}
    if name not in classes:
        raise AttributeError(f"module '{package}' has no attribute '{name}'.{did_you_mean(name, classes)}")
    return classes[name]


def registered_name(registry: Registry[Any], thing: Any) -> str:
    """Return the name of a registered class, or a name as it is."""
    if isinstance(thing, str):
        return thing
    for name, registered in registry.contents().things.items():
        if registered is thing:
            return name
    raise GraphTrialError(f"{thing!r} is not a registered {registry.kind}; give a name or a class that is registered")
