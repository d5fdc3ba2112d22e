"""Worker processes: how they are started, and an ordered parallel map.

Importing this module is cheap, so that a command can start the fork server before its own imports.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from types import ModuleType
from typing import TypeVar

from graphtrial.core.errors import GraphTrialError

Item = TypeVar("Item")
Result = TypeVar("Result")
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable read by Python 3.11 and later."""


def cores() -> int:
    """Return the number of CPU cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_per_trial(running: int) -> int:
    """Return the threads of each of `running` concurrent trials: cores, shared evenly, at most `OMP_NUM_THREADS`."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    threads = max(1, cores() // max(1, running))
    return min(threads, max(1, int(limit))) if limit.isdecimal() else threads


def worker_context(*, sklearn: bool = False) -> BaseContext:
    """Return the multiprocessing context of workers: forkserver where available, else spawn.

    Each trial gets a fresh process, isolated from the others. The fork server has torch imported and the compiled
    kernels loaded, so that a worker starts in milliseconds; `sklearn` preloads scikit-learn too, whose import takes
    twice as long as one cross-validation fold.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    kernels = ["graphtrial.trials.kinds.gram_cache", "graphtrial.svm.cross_validation"]
    extra = kernels if sklearn and find_spec("sklearn") is not None else []
    context.set_forkserver_preload(["graphtrial.execution.preload", *extra])
    if context.get_start_method() == "forkserver":
        with _without_current_folder():
            forkserver.ensure_running()
    return context


def prepare_workers(*, sklearn: bool = False) -> None:
    """Start the fork server, which preloads its imports in the background."""
    worker_context(sklearn=sklearn)


def map_in_order(
    function: Callable[[Item], Result], items: Sequence[Item], description: str, workers: int | None = None
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, from a pool of `workers` processes (all cores by default).

    `function` must be importable by name. The result does not depend on the number of processes. A daemonic process,
    such as the worker of a trial, may not have children and computes serially.
    """
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    from graphtrial.core.progress import track

    processes = min(workers or cores(), len(items))
    if processes <= 1 or multiprocessing.current_process().daemon:
        yield from track(map(function, items), description, len(items))
        return
    with ProcessPoolExecutor(processes, mp_context=worker_context()) as pool:
        with without_main():
            futures: list[Future[Result]] = [pool.submit(function, item) for item in items]
        try:
            for future in track(futures, description, len(items)):
                yield future.result()
        except BrokenProcessPool as error:
            raise GraphTrialError(
                f"{description} stopped because a worker process was killed, perhaps because memory ran out; "
                "run the command again with fewer cores (taskset) or more memory"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Keep child interpreters from importing modules of the current folder.

    The fork server is started by `python -c`, for which a local `numpy.py` would shadow NumPy.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def without_main() -> Iterator[None]:
    """Keep worker processes from importing `__main__`, which would run the user's script or the command again.

    A script that loads a dataset at module level would otherwise deadlock on the lock held by its parent.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
