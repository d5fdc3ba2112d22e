"""Allow-list of code outside this package that may be imported by name.

A store, a study or a shipped file may come from anybody and may contain `module:attribute` or the name of an entry
point. Such a name is imported only if the user allowed it in this process: on the command line, by --allow, or
through the Python interface. Code that reads files never calls `allow`.
"""

from __future__ import annotations

import re

from graphtrial.core.errors import GraphTrialError, UnknownNameError

PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
"""`package.module:attribute`"""
LOADER = re.compile(r"[a-z]+:[A-Za-z0-9][\w.+-]*(/([A-Za-z_]\w*=)?[A-Za-z0-9][\w.+-]*)*", re.ASCII)
"""Dataset of another library, which its loader unpickles: `pyg:Planetoid/Cora`, `pyg:ZINC/subset=true`."""
MAX_LENGTH = 200
_allowed: set[str] = set()


class NotAllowedError(GraphTrialError):
    """Code outside this package that was not allowed; the message says how to allow it."""


def allow(*names: str) -> None:
    """Add `package.module:attribute` paths or entry point names to the allow-list of this process."""
    _allowed.update(names)


def allowed() -> tuple[str, ...]:
    """Return the allow-list of this process, sorted, to pass on to workers."""
    return tuple(sorted(_allowed))


def is_allowed(name: str) -> bool:
    """Return whether a name is on the allow-list."""
    return name in _allowed


def clear() -> None:
    """Empty the allow-list."""
    _allowed.clear()


def require_path(path: str, kind: str) -> None:
    """Raise an error unless `path` is an allowed `package.module:attribute`."""
    if len(path) > MAX_LENGTH or not PATH.fullmatch(path):
        raise UnknownNameError(
            f"'{path[:MAX_LENGTH]}' names no {kind}: code outside graphtrial is package.module:attribute"
        )
    if path not in _allowed:
        raise NotAllowedError(
            f"the {kind} names code outside graphtrial: '{path}'. If you trust it add --allow {path} "
            f"(in Python: graphtrial.allow('{path}'))"
        )


def require_entry_point(name: str, kind: str, target: str) -> None:
    """Raise an error unless the entry point `name` of an installed package is allowed."""
    if name not in _allowed:
        raise NotAllowedError(
            f"{kind} '{name}' is code of an installed package: '{target}'. If you trust it add --allow {name} "
            f"(in Python: graphtrial.allow('{name}'))"
        )


def require_loader(name: str, library: str) -> None:
    """Raise an error unless the dataset `name` of another library is allowed: its loader unpickles files."""
    if name not in _allowed:
        raise NotAllowedError(
            f"dataset '{name}' is loaded by {library}, which downloads and unpickles files. If you trust it add "
            f"--allow {name} (in Python: graphtrial.allow('{name}'))"
        )
