"""Progress of trials: a bar on a terminal, else a line per finished trial; with the estimated time left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from graphtrial.cli.common import err
from graphtrial.encodings.notation import format_encoding
from graphtrial.execution.eta import RemainingTime
from graphtrial.execution.executor import Listener, Progress
from graphtrial.results.live import duration
from graphtrial.trials.durations import Seconds

REFRESH_SECONDS = 1.0
"""Minimum time between two estimates of the time left."""


@contextmanager
def shown_progress(
    total: int | None, done: int, *, quiet: bool, remaining: RemainingTime | None = None
) -> Iterator[Listener]:
    """Yield a listener that shows the progress of `total` trials, if known, of which `done` were finished before."""
    if quiet or total == done:
        yield lambda progress: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Bars(*columns, console=err, disable=not err.is_terminal) as bars:
        task = bars.add_task("trials", total=total, completed=done, left="")
        running: dict[str, str] = {}
        count, estimated = done, 0.0

        def listen(progress: Progress) -> None:
            nonlocal count, estimated
            spec = progress.trial
            if remaining is not None:
                remaining(progress)
            if progress.event == "end":
                running.pop(spec.id, None)
                count += 1
                bars.advance(task)
                if not err.is_terminal:
                    encoding = format_encoding(spec.encoding) if spec.encoding else ""
                    of = "" if total is None else f"/{total}"
                    left = format_left(remaining.left()) if remaining is not None and count != total else ""
                    line = f"{count}{of} {spec.model.name} {encoding} split {spec.split} seed {spec.seed}"
                    err.print(f"{line}; {left}" if left else line, soft_wrap=True)
            else:
                running[spec.id] = f"{spec.model.name} split {spec.split} seed {spec.seed} epoch {progress.epoch}"
            bars.update(task, description="; ".join(running.values()) or "trials")
            if remaining is not None and err.is_terminal and time.monotonic() - estimated > REFRESH_SECONDS:
                estimated = time.monotonic()
                bars.update(task, left=format_left(remaining.left()))

        yield listen


def format_left(left: Seconds | None) -> str:
    """Format the time left: about one duration, with its range where trials may differ in length."""
    if left is None:
        return ""
    about = f"{duration(left.expected)} left"
    return about if left.is_narrow else f"{about} ({duration(left.low)} to {duration(left.high)})"
