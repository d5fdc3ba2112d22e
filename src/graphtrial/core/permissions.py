"""Which code outside this package may be imported by name: what the user named, and nothing that a file names.

A store, a study or a shipped file can name `module:attribute` or the entry point of an installed package, and whose
file it is cannot be told. Such a name is imported only where it was allowed in this process: typed on the command line,
given by --allow, or handed to the Python interface. Nothing that reads a file calls `allow`.
"""

from __future__ import annotations

import re

from graphtrial.core.errors import GraphTrialError, UnknownNameError

PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
"""`package.module:attribute`"""
LONGEST = 200
_allowed: set[str] = set()


class NotAllowedError(GraphTrialError):
    """Code outside this package that nobody allowed to be imported; the message says how to."""


def allow(*names: str) -> None:
    """Let these names be imported in this process: `package.module:attribute`, or names of entry points."""
    _allowed.update(names)


def allowed() -> tuple[str, ...]:
    """Return what was allowed in this process, to be allowed in workers too."""
    return tuple(sorted(_allowed))


def is_allowed(name: str) -> bool:
    """Tell whether a name may be imported."""
    return name in _allowed


def forget() -> None:
    """Take every permission back."""
    _allowed.clear()


def require_path(path: str, kind: str) -> None:
    """Raise an error unless `path` is a `package.module:attribute` that was allowed."""
    if len(path) > LONGEST or not PATH.fullmatch(path):
        raise UnknownNameError(
            f"'{path[:LONGEST]}' names no {kind}: code outside graphtrial is package.module:attribute"
        )
    if path not in _allowed:
        raise NotAllowedError(
            f"the {kind} names code outside graphtrial: '{path}'. If you trust it add --allow {path} "
            f"(in Python: graphtrial.allow('{path}'))"
        )


def require_entry_point(name: str, kind: str, target: str) -> None:
    """Raise an error unless the entry point of an installed package was allowed by its name."""
    if name not in _allowed:
        raise NotAllowedError(
            f"{kind} '{name}' is code of an installed package: '{target}'. If you trust it add --allow {name} "
            f"(in Python: graphtrial.allow('{name}'))"
        )
