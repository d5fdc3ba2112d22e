"""Trials in processes of this machine: one process each, one thread each, as many as there are cores."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Annotated

from graphtrial.core import plugins
from graphtrial.core.arguments import NonNegativeFloat, Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.parallel import cores, worker_context
from graphtrial.core.signatures import check_fields
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.watchdog import GRACE_SECONDS, patience_seconds, silence
from graphtrial.execution.worker import environment_settings, record_start, run_and_record, work
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec

MOST_WORKERS = 4096
LOOK_SECONDS = 60.0
"""How often a silent study is looked at."""


@dataclass
class _Run:
    process: BaseProcess
    trial: TrialSpec
    last_sign: float
    silent_for: float = 0.0


@dataclass(frozen=True)
class Processes:
    """Runs `workers` trials at a time (all cores by default), each in a process of its own; with 0 in this process.

    A trial of which no epoch ends within the time limit of its rules, and `grace_seconds` more, hangs: it is ended.
    """

    workers: Annotated[int, Range(0, MOST_WORKERS)] | None = None
    grace_seconds: NonNegativeFloat = GRACE_SECONDS

    def __post_init__(self) -> None:
        check_fields(self, "the executor")

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener) -> None:
        """Run these trials and store their results."""
        if self.workers == 0:
            for trial in trials:
                listener(Progress(trial, "start"))
                run_and_record(trial, store, lambda e, trial=trial: listener(Progress(trial, "epoch", e.epoch)))  # type: ignore[misc]
                listener(Progress(trial, "end"))
        else:
            self._run_in_processes(deque(trials), store, self.workers or cores(), listener)

    def _run_in_processes(self, queue: deque[TrialSpec], store: Store, workers: int, listener: Listener) -> None:
        context = worker_context(sklearn=any(trial.kind.needs_sklearn for trial in queue))
        running: dict[Connection, _Run] = {}
        try:
            while queue or running:
                while queue and len(running) < workers:
                    trial = queue.popleft()
                    ours, theirs = context.Pipe(duplex=False)
                    args = (
                        trial.to_dict(),
                        store.path,
                        theirs,
                        plugins.user_code(trial.plugins),
                        environment_settings(),
                    )
                    process = context.Process(target=work, args=args, daemon=True)  # type: ignore[attr-defined]
                    process.start()
                    theirs.close()
                    running[ours] = _Run(process, trial, time.monotonic())
                    listener(Progress(trial, "start"))
                for connection in wait(list(running), timeout=self._look_again(running)):
                    _hear(connection, running, store, listener)  # type: ignore[arg-type]
                self._end_those_that_hang(running)
        except BaseException:
            for run in running.values():
                run.process.terminate()
            for run in running.values():
                run.process.join()
                with suppress(GraphTrialError):  # the store may be what went wrong
                    store.mark(run.trial.id, "interrupted")
            raise

    def _look_again(self, running: dict[Connection, _Run]) -> float:
        limits = [patience_seconds(run.trial, self.grace_seconds) for run in running.values()]
        return min([LOOK_SECONDS, *limits])

    def _end_those_that_hang(self, running: dict[Connection, _Run]) -> None:
        for run in running.values():
            silent = time.monotonic() - run.last_sign
            if silent > patience_seconds(run.trial, self.grace_seconds) and not run.silent_for:
                run.silent_for = silent
                run.process.kill()  # its pipe closes, which is heard as every other end


def _hear(connection: Connection, running: dict[Connection, _Run], store: Store, listener: Listener) -> None:
    run = running[connection]
    trial, process = run.trial, run.process
    try:
        listener(Progress(trial, "epoch", connection.recv()))
        run.last_sign = time.monotonic()
    except EOFError:
        connection.close()
        process.join()
        known = store.trials([trial.id])
        if process.exitcode or not known or known[0].status == "running":
            if not known:  # it ended before it could say that it started
                record_start(trial, store)
            ended = f"the worker process ended with code {process.exitcode}{_reason(process.exitcode)}"
            store.mark(trial.id, "failed", silence(run.silent_for) if run.silent_for else ended)
        del running[connection]
        listener(Progress(trial, "end"))


def _reason(code: int | None) -> str:
    if code == 0:
        return " before the trial had a result: something in it ended the process"
    return ": it was killed, perhaps because memory ran out" if code == -9 else ""
