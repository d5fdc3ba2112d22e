"""A progress bar for what takes longer than two seconds, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import Progress

T = TypeVar("T")
PATIENCE_SECONDS = 2.0


class Advance(Protocol):
    """Told how much more was done."""

    def __call__(self, amount: float = 1.0) -> None: ...


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Advance]:
    """Yield a function to call with the amount done; a bar appears once two seconds have passed."""
    bar = Progress(console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty())
    task = bar.add_task(what, total=total)
    shown_at = time.monotonic() + PATIENCE_SECONDS
    started = False

    def advance(amount: float = 1.0) -> None:
        nonlocal started
        bar.advance(task, amount)
        if not started and time.monotonic() > shown_at:
            started = True
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()


def track(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items, with a bar that counts them."""
    with progress(what, total) as advance:
        for item in items:
            yield item
            advance()
