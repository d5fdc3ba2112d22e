"""Exit codes and one-line messages for every exception that ends a command.

Values are validated where they are declared, files where they are read. What remains are errors of the system (a full
disk, no memory, Ctrl-C) and internal errors of graphtrial, whose traceback is saved to a file.
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
from graphtrial.core.terminal import discard_output, output_is_closed

REFUSED, INTERNAL, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141
INTERNAL_ERROR = "internal error"
"""Prefix of the message of an internal error."""
SHOW = "GRAPHTRIAL_TRACEBACK"
NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Unable to allocate")


def failure(error: BaseException) -> tuple[str, int]:
    """Return the message of an exception, empty for a closed pipe, and the exit code."""
    if isinstance(error, GraphTrialError):
        return str(error), REFUSED
    if isinstance(error, KeyboardInterrupt):
        return "stopped", INTERRUPTED
    if isinstance(error, BrokenPipeError) and output_is_closed():
        return "", PIPE_CLOSED
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _lacks_memory(error)):
        return f"out of memory: {in_one_line(error)}", REFUSED
    if isinstance(error, OSError):
        where = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
        return f"system error: {reason(error)}{where}", REFUSED
    if isinstance(error, sqlite3.OperationalError):
        return f"the store cannot be used: {reason(error)}", REFUSED
    file = _save_traceback(error)
    hint = f"its traceback is in {file}" if file else f"{SHOW}=1 shows its traceback"
    return f"{INTERNAL_ERROR}, please report this bug of graphtrial: {in_one_line(error)}; {hint}", INTERNAL


def run_and_flush(command: Callable[[], object]) -> int:
    """Run the command line, flush stdout, and return the exit code."""
    try:
        code = _run(command)
        sys.stdout.flush()
    except OSError as error:  # a full disk or a closed pipe
        message, code = failure(error)
        say(message)
        discard_output()
    return code


def print_any_text() -> None:
    """Escape undecodable file names in the standard streams."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def open_closed_streams() -> None:
    """Open standard streams that the caller closed, as in `graphtrial ... >&-`, where Python sets them to `None`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends


def say(message: str) -> None:
    """Print the error message of a command to stderr; errors of printing are ignored."""
    with suppress(OSError, ValueError):
        if message:
            print(str(GraphTrialError(f"graphtrial: {message}")), file=sys.stderr, flush=True)


def _run(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - every exception ends in one line
        message, code = failure(error)
        say(message)
        if isinstance(error, OSError):
            discard_output()
        return code
    return 0


def _lacks_memory(error: RuntimeError) -> bool:
    return any(text in str(error) for text in NO_MEMORY)


def _save_traceback(error: BaseException) -> str | None:
    text = "".join(traceback.format_exception(error))
    if os.environ.get(SHOW):
        with suppress(OSError):
            print(text, file=sys.stderr)
    path = cache_home() / "last-traceback.txt"
    try:
        write_text(path, text.encode(errors="backslashreplace").decode())
    except (OSError, GraphTrialError):  # a full or read-only disk
        return None
    return str(path)
