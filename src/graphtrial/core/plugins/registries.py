"""Registries that plug-ins may add to."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

from graphtrial.core.plugins.imports import import_attribute
from graphtrial.core.registry import Registry

_homes: dict[str, str | None] = {}
"""Registries as `module:attribute`, and the package that each needs, if any; packages above this one declare them."""


def open_to_plugins(path: str, *, needs: str | None = None) -> None:
    """Let plug-ins add to the registry at `module:NAME`; it is left out where the library that it needs is absent."""
    _homes[path] = needs


def registries() -> dict[str, Registry[Any]]:
    """Return the registries open to plug-ins, by kind; imports their modules."""
    return {registry.kind: registry for registry in map(import_attribute, _available())}


def imported_registries() -> dict[str, Registry[Any]]:
    """Return the registries open to plug-ins, by kind; those that need a library only if they are imported already."""
    paths = (path for path in _available() if _homes[path] is None or path.partition(":")[0] in sys.modules)
    return {registry.kind: registry for registry in map(import_attribute, paths)}


def registry_of(plural: str) -> Registry[Any] | None:
    """Return the registry open to plug-ins that has this plural name, or None; imports no other."""
    paths = (path for path in _available() if path.partition(":")[2].lower() == plural)
    return next(map(import_attribute, paths), None)


def _available() -> list[str]:
    return [path for path, needs in _homes.items() if needs is None or find_spec(needs) is not None]
