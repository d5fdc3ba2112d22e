"""Contestants that do nothing, for the tests of the line protocol."""

from __future__ import annotations

import os
from collections.abc import Callable

from benchmarks.protocol import SkipError, Tick

Ready = Callable[..., None]


def counts(ready: Ready, tick: Tick, start: int, seconds: float = 0.25) -> None:
    """Count its repetitions, and chatter on standard output."""
    print("this must not garble the protocol", flush=True)
    ready()
    while True:
        tick(seconds, start, colour="blue")
        start += 1


def quickens(ready: Ready, tick: Tick, seconds: list[float]) -> None:
    """Take these seconds, one after the other, and count its repetitions."""
    ready()
    for number, took in enumerate(seconds):
        tick(took, number)


def sees(ready: Ready, tick: Tick, names: list[str]) -> None:
    """Report the values of these environment variables."""
    ready()
    tick(0.0, 0.0, seen=[os.environ.get(name) for name in names])


def declines(ready: Ready, tick: Tick) -> None:
    """Not take part, with a reason."""
    raise SkipError("too tired")


def breaks(ready: Ready, tick: Tick) -> None:
    """Fail before it is ready."""
    raise ZeroDivisionError("by accident")


def breaks_later(ready: Ready, tick: Tick) -> None:
    """Be gone after the warm-up."""
    ready()
    try:
        tick(0.0, 0.0)
    finally:
        os._exit(3)
