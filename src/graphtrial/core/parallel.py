"""Many independent pieces of work on all cores, in order, with progress."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import ModuleType
from typing import TypeVar

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.progress import track
from graphtrial.core.workers import cores, worker_context

Item = TypeVar("Item")
Made = TypeVar("Made")


def map_in_order(
    function: Callable[[Item], Made], items: Sequence[Item], what: str, workers: int | None = None
) -> Iterator[Made]:
    """Yield `function(item)` for each item, in order, computed by `workers` processes (all cores by default).

    `function` must be importable by name. The result does not depend on the number of processes. A process that may not
    have children of its own, such as one that runs a trial, does the work itself.
    """
    processes = min(workers or cores(), len(items))
    if processes <= 1 or multiprocessing.current_process().daemon:
        yield from track(map(function, items), what, len(items))
        return
    with ProcessPoolExecutor(processes, mp_context=worker_context()) as pool:
        with _without_main():
            futures: list[Future[Made]] = [pool.submit(function, item) for item in items]
        try:
            for future in track(futures, what, len(items)):
                yield future.result()
        except BrokenProcessPool as error:
            raise GraphTrialError(
                f"{what} stopped because a worker process was killed, perhaps because memory ran out; "
                "run the command again with fewer cores (taskset) or more memory"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _without_main() -> Iterator[None]:
    """Let new processes start without the user's script, which would run again in each of them.

    A script that loads a dataset in its first line would otherwise wait in every worker for the lock that its own
    first run holds.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
