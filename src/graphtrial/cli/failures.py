"""The last line of defence: whatever ends a command ends it in one line and an exit code.

Values are checked where they are declared, and files where they are read; what arrives here is a machine that refuses
(a full disk, no memory, Ctrl-C), or a fault of graphtrial itself, which is called so and whose traceback is kept.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.files import cache_home, reason, write_text

REFUSED, INTERNAL, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141
INTERNAL_ERROR = "internal error"
"""How the line about a fault of our own begins; tests of bad input count it as a traceback."""
SHOW = "GRAPHTRIAL_TRACEBACK"
NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Unable to allocate")


def failure(error: BaseException) -> tuple[str, int]:
    """Return what to say about the end of a command, nothing where nobody would read it, and its exit code."""
    if isinstance(error, GraphTrialError):
        return str(error), REFUSED
    if isinstance(error, KeyboardInterrupt):
        return "stopped", INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return "", PIPE_CLOSED
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _lacks_memory(error)):
        return f"this needs more memory than there is: {in_one_line(error)}", REFUSED
    if isinstance(error, OSError):
        where = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
        return f"the system refuses: {reason(error)}{where}", REFUSED
    if isinstance(error, sqlite3.OperationalError):
        return f"the store cannot be used: {reason(error)}", REFUSED
    kept = _keep_traceback(error)
    hint = f"its traceback is in {kept}" if kept else f"{SHOW}=1 shows its traceback"
    return f"{INTERNAL_ERROR}, a fault of graphtrial that should be reported: {in_one_line(error)}; {hint}", INTERNAL


def run_to_the_end(command: Callable[[], object]) -> int:
    """Run the command line, flush what it printed, and return its exit code."""
    try:
        code = _run(command)
        sys.stdout.flush()
    except OSError as error:  # a full disk or a closed pipe shows when the last words are flushed
        words, code = failure(error)
        say(words)
        _drop_output()
    return code


def print_any_text() -> None:
    """Let the standard streams print names that are no valid text, as a file system may have them, in escaped form."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def open_closed_streams() -> None:
    """Open a standard stream that the caller closed, as in `graphtrial ... >&-`: Python has none in its place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends


def say(words: str) -> None:
    """Print the last line of a command to stderr, if it can be printed at all."""
    with suppress(OSError, ValueError):
        if words:
            print(str(GraphTrialError(f"graphtrial: {words}")), file=sys.stderr, flush=True)


def _run(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it ends in one line
        words, code = failure(error)
        say(words)
        if isinstance(error, OSError):
            _drop_output()
        return code
    return 0


def _lacks_memory(error: RuntimeError) -> bool:
    return any(words in str(error) for words in NO_MEMORY)


def _drop_output() -> None:
    """Let what could not be printed be, so that the interpreter does not try once more when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def _keep_traceback(error: BaseException) -> str | None:
    text = "".join(traceback.format_exception(error))
    if os.environ.get(SHOW):
        with suppress(OSError):
            print(text, file=sys.stderr)
    path = cache_home() / "last-traceback.txt"
    try:
        write_text(path, text.encode(errors="backslashreplace").decode())
    except (OSError, GraphTrialError):  # a disk that is full or cannot be written
        return None
    return str(path)
