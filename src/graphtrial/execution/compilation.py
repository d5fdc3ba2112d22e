"""Compilation of the interpreter of recorded programs, beside trials that do not wait for it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

DELAY = 20.0
"""Seconds before a run counts as long enough to compile for."""
CODE = "import os; os.nice(10); from graphtrial.tape.runner import warm_up; warm_up()"


@contextmanager
def background_compilation(delay: float = DELAY) -> Iterator[None]:
    """Compile the interpreter in another process while the block runs, unless it ends within `delay` seconds.

    That takes two minutes once after an installation, and seconds where it is compiled already. Trainings that begin
    before it is ready compute without it, to the same bits. The process ends with the block.
    """
    processes: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-P", "-c", CODE]
        processes.append(subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet))

    timer = threading.Timer(delay, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for process in processes:
            process.terminate()
            process.wait()
