"""Errors that talk to people: what was wrong, what is allowed, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
LONGEST = 1500
LONGEST_NAME = 200


class GraphTrialError(Exception):
    """Something the user can mend; the message says how. The command line prints it without a traceback.

    The message is one line of bounded length, whatever a file, a name or another library contributed to it.
    """

    def __init__(self, message: str) -> None:
        line = CONTROL.sub(" ", message)
        if len(line) > LONGEST:
            line = f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"
        super().__init__(line)


class UnknownNameError(GraphTrialError):
    """A name that no registry, signature or file knows."""


class InvalidGraphError(GraphTrialError):
    """Graph data that contradicts itself: an index out of range, a size that does not fit, a value not finite."""


class CorruptFileError(GraphTrialError):
    """A file whose content is not what was written or published."""


class MissingDependencyError(GraphTrialError):
    """An optional package is needed; the message names the extra that brings it."""


def shown(value: object, longest: int = 80) -> str:
    """Return a value as an error quotes it: on one line, shortened, also where it has no finite representation."""
    try:
        text = CONTROL.sub(" ", repr(value))
    except Exception:  # noqa: BLE001 - too many digits, a list that holds itself, a foreign __repr__
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= longest else f"{text[:longest]}..."


def in_one_line(error: BaseException) -> str:
    """Return the type and message of an error of foreign code on one line, also where it cannot say its message."""
    try:
        message = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an error of the user's own may fail to describe itself
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest known name, or nothing where none is near; capitals do not count."""
    if len(name) > LONGEST_NAME:
        return ""  # the time that a comparison takes grows with the square of the length
    spelled = {one.lower(): one for one in known}  # the papers write ZINC and GCN
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.5)
    return f" Did you mean '{spelled[near[0]]}'?" if near else ""


def missing_extra(what: str, package: str, extra: str) -> MissingDependencyError:
    """Return the error for an absent optional package."""
    return MissingDependencyError(f"{what} needs {package}: pip install 'graphtrial[{extra}]'")
