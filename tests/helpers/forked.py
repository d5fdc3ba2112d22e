"""Scripts in a fork of this process, which has everything imported: for those that kill themselves."""

from __future__ import annotations

import multiprocessing
import sys


def run_forked(script: str, *words: object) -> int | None:
    """Run a script with these arguments and return its exit code: below 0 the signal that ended it."""
    process = multiprocessing.get_context("fork").Process(target=_run, args=(script, [*map(str, words)]))
    process.start()
    process.join(120)
    if process.is_alive():
        process.kill()
    return process.exitcode


def _run(script: str, words: list[str]) -> None:
    sys.argv = ["-c", *words]
    exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})  # noqa: S102 - a script of a test
