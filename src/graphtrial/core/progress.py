"""Progress bars on a terminal, shown after two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")
SHOW_AFTER_SECONDS = 2.0


class Advance(Protocol):
    """Callback that advances a progress bar by `amount`."""

    def __call__(self, amount: float = 1.0) -> None: ...


@contextmanager
def progress(description: str, total: float | None) -> Iterator[Advance]:
    """Yield a callback that advances the bar; the bar appears after `SHOW_AFTER_SECONDS`."""
    from rich.console import Console  # here, because a worker shows no bar
    from rich.progress import Progress

    bar = Progress(console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty())
    task = bar.add_task(description, total=total)
    shown_at = time.monotonic() + SHOW_AFTER_SECONDS
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


def track(items: Iterable[T], description: str, total: int) -> Iterator[T]:
    """Iterate over the items with a progress bar."""
    with progress(description, total) as advance:
        for item in items:
            yield item
            advance()
