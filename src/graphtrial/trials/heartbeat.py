"""Heartbeat of running trials: a file beside the lock that names the host and is touched while the trial runs.

Locks are seen by processes of the same machine, and on many network file systems by no others.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import is_locked, write_text
from graphtrial.trials.store import Store

FILE = "host"
BEAT_SECONDS = 20.0
STALE_SECONDS = 120.0
"""Age of a heartbeat from which on its trial counts as dead; more than the clocks of a cluster differ."""
LONGEST_NAME = 255


@contextmanager
def heartbeat(store: Store, *trials: str) -> Iterator[None]:
    """Touch the heartbeat files of trials while the block runs; they are removed at its end."""
    files = [store.trial_folder(trial) / FILE for trial in trials]
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT_SECONDS):
            for file in files:
                with suppress(OSError):
                    os.utime(file)

    for file in files:
        _write(file)
    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        for trial in trials:
            end_heartbeat(store, trial)


def is_running(store: Store, trial: str) -> bool:
    """Whether a process of this machine has locked a trial, or one of another machine has a recent heartbeat."""
    if is_locked(store.lock_file(trial)):
        return True
    file = store.trial_folder(trial) / FILE
    try:
        age = time.time() - file.stat().st_mtime
    except OSError:
        return False
    return age < STALE_SECONDS and running_host(store, trial) not in ("", platform.node())


def running_host(store: Store, trial: str) -> str:
    """Return the name of the host that runs a trial, empty if there is none."""
    try:
        with (store.trial_folder(trial) / FILE).open(encoding="utf-8", errors="replace") as stream:
            return "".join(filter(str.isprintable, stream.read(LONGEST_NAME)))
    except OSError:
        return ""


def beat_once(store: Store, trial: str) -> None:
    """Write or touch the heartbeat file of a trial that runs elsewhere on behalf of this process."""
    file = store.trial_folder(trial) / FILE
    try:
        os.utime(file)
    except OSError:
        _write(file)


def end_heartbeat(store: Store, trial: str) -> None:
    """Remove the heartbeat file of a trial."""
    with suppress(OSError):
        (store.trial_folder(trial) / FILE).unlink()


def _write(file: Path) -> None:
    with suppress(OSError, GraphTrialError):  # a trial runs without it
        write_text(file, platform.node())
