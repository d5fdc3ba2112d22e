"""Exceptions with one-line messages for the user: what was wrong, what is allowed, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
MAX_MESSAGE_LENGTH = 1500
MAX_NAME_LENGTH = 200


class GraphTrialError(Exception):
    """Base class of errors that the user can fix; the command line prints the message without a traceback.

    Control characters are removed from the message and its length is limited, whatever it quotes.
    """

    def __init__(self, message: str) -> None:
        line = CONTROL_CHARACTERS.sub(" ", message)
        if len(line) > MAX_MESSAGE_LENGTH:
            line = f"{line[: MAX_MESSAGE_LENGTH // 2]} ... {line[-MAX_MESSAGE_LENGTH // 2 :]}"
        super().__init__(line)


class UnknownNameError(GraphTrialError):
    """A name that no registry, signature or file contains."""


class InvalidGraphError(GraphTrialError):
    """Inconsistent graph data: an index out of range, mismatched sizes, a value that is not finite."""


class CorruptFileError(GraphTrialError):
    """A file with the wrong checksum or malformed content."""


class MissingDependencyError(GraphTrialError):
    """An optional package is missing; the message names the extra to install."""


def short_repr(value: object, longest: int = 80) -> str:
    """Return a `repr` for error messages: one line, truncated, also where `__repr__` raises."""
    try:
        text = CONTROL_CHARACTERS.sub(" ", repr(value))
    except Exception:  # noqa: BLE001 - an integer of too many digits, a recursive list, the __repr__ of a plug-in
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= longest else f"{text[:longest]}..."


def in_one_line(error: BaseException) -> str:
    """Format type and message of any exception on one line, also where its `__str__` raises."""
    try:
        message = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the __str__ of a plug-in's exception may raise
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the closest match, ignoring case, or an empty string."""
    if len(name) > MAX_NAME_LENGTH:
        return ""  # difflib is quadratic in the length
    spelled = {one.lower(): one for one in choices}  # the papers write ZINC and GCN
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.5)
    return f" Did you mean '{spelled[near[0]]}'?" if near else ""


def missing_extra(feature: str, package: str, extra: str) -> MissingDependencyError:
    """Return the error for a missing optional package."""
    return MissingDependencyError(f"{feature} needs {package}: pip install 'graphtrial[{extra}]'")
