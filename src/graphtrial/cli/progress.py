"""Progress of trials: a bar on a terminal, else a line per finished trial."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from graphtrial.cli.common import err
from graphtrial.encodings.notation import format_encoding
from graphtrial.execution.executor import Listener, Progress


@contextmanager
def shown_progress(total: int | None, done: int, *, quiet: bool) -> Iterator[Listener]:
    """Yield a listener that shows the progress of `total` trials, if known, of which `done` were finished before."""
    if quiet or total == done:
        yield lambda progress: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=err, disable=not err.is_terminal) as bars:
        task = bars.add_task("trials", total=total, completed=done)
        running: dict[str, str] = {}
        count = done

        def listen(progress: Progress) -> None:
            nonlocal count
            spec = progress.trial
            if progress.event == "end":
                running.pop(spec.id, None)
                count += 1
                bars.advance(task)
                if not err.is_terminal:
                    encoding = format_encoding(spec.encoding) if spec.encoding else ""
                    of = "" if total is None else f"/{total}"
                    err.print(f"{count}{of} {spec.model.name} {encoding} split {spec.split} seed {spec.seed}")
            else:
                running[spec.id] = f"{spec.model.name} split {spec.split} seed {spec.seed} epoch {progress.epoch}"
            bars.update(task, description="; ".join(running.values()) or "trials")

        yield listen
