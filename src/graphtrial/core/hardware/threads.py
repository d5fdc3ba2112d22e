"""Threads that share the blocks of one computation.

Blocks follow from the shapes of the data and never from the number of threads, and one thread walks the same blocks in
the same order, so that the bits of a result do not depend on how many there are. Threads claim the next block until
none is left: a helper that is late has nothing to do, and no thread waits for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

import numpy as np
import torch

T = TypeVar("T")
MIN_WORK = 200_000
"""Elements below which one thread computes alone.

Vector code takes some 0.3 ns for an element read or written. Handing over costs the caller 2 to 3 µs (a kernel of
2.1 µs took 3.5 with a helper), and a helper tens of microseconds to wake up: below 60 µs of work it comes too late.
"""


def current_threads() -> int:
    """Return the number of threads that compute now: 1 outside of `use_threads`."""
    return _active


@contextmanager
def use_threads(number: int) -> Iterator[None]:
    """Compute with `number` threads inside the block, the calling one included."""
    global _active
    before = _active
    _active = max(1, number)
    try:
        yield
    finally:
        _active = before


def run(kernel: Callable[..., None], work: float, *arguments: Any) -> None:
    """Call `kernel(claim, *arguments)`, on all threads where the `work`, elements read or written, is worth it.

    The kernel takes blocks by `blocks.next_block(claim)` until none is left, and releases the GIL.
    """
    claim = np.zeros(1, np.int64)
    if _active == 1 or work < MIN_WORK:
        kernel(claim, *arguments)
    else:
        _run_shared(lambda: kernel(claim, *arguments))


def run_blocks(function: Callable[[Any], T], blocks: Sequence[Any], work: float) -> list[T]:
    """Return `function(block)` of each block, in order; without gradients, on all threads where `work` is worth it."""
    results: list[Any] = [None] * len(blocks)
    numbers = count()

    @torch.no_grad()
    def compute() -> None:
        while (number := next(numbers)) < len(blocks):
            results[number] = function(blocks[number])

    if _active == 1 or work < MIN_WORK or len(blocks) < 2:
        compute()
    else:
        _run_shared(compute)
    return results


class _Job:
    """One computation, open to helpers until the caller has run out of blocks."""

    def __init__(self, compute: Callable[[], None]) -> None:
        self.compute = compute
        self.error: BaseException | None = None
        self._lock, self._finished = Lock(), Lock()
        self._open, self._helpers = True, 0
        self._finished.acquire()

    def help(self) -> None:
        """Take part, unless the caller has finished."""
        with self._lock:
            if not self._open:
                return
            self._helpers += 1
        try:
            self.compute()
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            self.error = error
        with self._lock:
            self._helpers -= 1
            if not self._open and not self._helpers:
                self._finished.release()

    def close(self) -> None:
        """Wait for the helpers that take part."""
        with self._lock:
            self._open = False
            waiting = self._helpers > 0
        if waiting:
            self._finished.acquire()
        if self.error is not None:
            raise self.error


_active = 1
_helpers: list[Thread] = []
_jobs: SimpleQueue[_Job] = SimpleQueue()


def _run_shared(compute: Callable[[], None]) -> None:
    while len(_helpers) < _active - 1:
        _start_helper()
    job = _Job(compute)
    for _ in range(_active - 1):
        _jobs.put(job)
    try:
        compute()
    finally:
        job.close()


def _start_helper() -> None:
    ready = Lock()
    ready.acquire()
    helper = Thread(target=_serve, args=(_jobs, ready), name=f"graphtrial-{len(_helpers) + 1}", daemon=True)
    helper.start()
    _helpers.append(helper)
    ready.acquire()  # before `compute_settings` can end


def _serve(jobs: SimpleQueue[_Job], ready: Lock) -> None:
    """Help with jobs, under the settings of `compute_settings`, which torch keeps per thread."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    ready.release()
    while True:
        jobs.get().help()


def _forget() -> None:
    """Threads do not survive a fork."""
    global _jobs
    _helpers.clear()
    _jobs = SimpleQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
