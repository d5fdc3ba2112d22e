"""Parts of all commands that run trials: the executor, Ctrl-C, the rows at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from graphtrial.cli.common import err, out, print_json
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import Compute

if TYPE_CHECKING:
    from graphtrial.execution import Executor
    from graphtrial.trials.store import Store, TrialRecord


def chosen_executor(executor: str | None, workers: int | None, compute: Compute) -> Executor | None:
    """Return the executor of `--executor`, none for `--workers`; an unknown device is an error before data are read."""
    from graphtrial.execution import make_executor

    if executor is not None and workers is not None:
        raise GraphTrialError("--workers is for local processes; leave it out, or use --executor processes:N")
    if executor is None:
        compute.devices()
    return None if executor is None else make_executor(executor)


@contextmanager
def resumable(finished: Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C into a line that says how many trials are `finished`."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(
            f"graphtrial: stopped; {finished()} are finished. "
            "The same command resumes the others from their last checkpoint.",
            soft_wrap=True,
        )
        raise typer.Exit(130) from None


def show_records(records: Sequence[TrialRecord], store: Store, *, json: bool, single: bool) -> None:
    """Print the rows of these trials; the first one alone as JSON if there is a `single` one. Failures exit with 1."""
    from graphtrial.results import result_rows, terminal_tables
    from graphtrial.trials.store.searches import load_searches

    rows = result_rows({record.id: record for record in records}.values(), load_searches(store))
    if json:
        dicts = [row.to_dict() for row in rows]
        print_json(dicts[0] if single and len(dicts) == 1 else dicts)
    else:
        for table in terminal_tables(rows):
            out.print(table)
    exit_on_failures(records)


def exit_on_failures(records: Sequence[TrialRecord]) -> None:
    """Name a failed trial and the last line of its error, and exit with 1, if there is one."""
    failed = [record for record in records if record.status == "failed"]
    if failed:
        cause = ((failed[0].error or "").strip().splitlines() or ["no error was recorded"])[-1]
        err.print(
            f"graphtrial: {len(failed)} of {len(records)} trials failed: {GraphTrialError(cause)}; "
            f"`graphtrial show {failed[0].id}` shows all of the error.",
            soft_wrap=True,
        )
        raise typer.Exit(1)
