"""Entry points of installed packages that register something."""

from __future__ import annotations

import os
import sys
from collections.abc import Container
from functools import lru_cache
from typing import TYPE_CHECKING

from graphtrial.core.plugins import permissions

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


def installed(plural: str) -> dict[str, EntryPoint]:
    """Return the entry points of the group `graphtrial.<plural>` of all installed packages, by name."""
    return {point.name: point for point in _installed(f"graphtrial.{plural}", _search_path())}


def not_allowed(plural: str, registered: Container[str]) -> dict[str, str]:
    """Return the entry points that are neither `registered` names nor allowed, with their import paths."""
    return {
        name: point.value
        for name, point in sorted(installed(plural).items())
        if name not in registered and not permissions.is_allowed(name)
    }


def _search_path() -> tuple[tuple[str, int], ...]:
    """Return the import path with the time of the last change of each folder: what `_installed` depends on."""
    return tuple((entry, os.stat(entry or ".").st_mtime_ns) for entry in sys.path if os.path.exists(entry or "."))


@lru_cache(maxsize=64)
def _installed(group: str, path: tuple[tuple[str, int], ...]) -> EntryPoints:
    """Return the entry points of a group of all installed packages; reading them takes milliseconds."""
    from importlib.metadata import entry_points  # here, because this import is a tenth of `graphtrial --help`

    return entry_points(group=group)
