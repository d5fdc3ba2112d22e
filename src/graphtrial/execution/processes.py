"""Executor that runs each trial in a process of this machine: on its cores, or on its GPUs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Annotated

from graphtrial.core.arguments import NonNegativeFloat, Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import AUTOMATIC, Compute
from graphtrial.core.parallel import without_main, worker_context
from graphtrial.core.plugins.loader import user_code
from graphtrial.core.signatures import check_fields
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.recording import TrialResult, record_interruption, record_result
from graphtrial.execution.watchdog import GRACE_SECONDS, timeout_error, timeout_seconds
from graphtrial.execution.worker import environment_settings, run_and_record, work
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec

MOST_WORKERS = 4096
POLL_SECONDS = 60.0
"""Maximum time between two checks of the watchdog."""


@dataclass
class _Run:
    process: BaseProcess
    trial: TrialSpec
    device: str
    last_update: float
    silent_seconds: float = 0.0


@dataclass(frozen=True)
class Processes:
    """Run `workers` trials at a time (all cores by default), each in a process of its own; with 0 in this process.

    On GPUs, at most `per_device` of the computation run at a time on each. Trials that no GPU can compute, such as
    those of kernels, come first and run on the cores. A trial that has reported no epoch for the time limit of its
    rules plus `grace_seconds` is killed.
    """

    workers: Annotated[int, Range(0, MOST_WORKERS)] | None = None
    grace_seconds: NonNegativeFloat = GRACE_SECONDS

    def __post_init__(self) -> None:
        check_fields(self, "the executor")

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener, compute: Compute = AUTOMATIC) -> None:
        """Run these trials and record their results."""
        slots = compute.slots(self.workers)  # an unknown device is an error before anything runs
        on_cores = replace(compute, device="cpu")
        cpu = [trial for trial in trials if slots[0] == "cpu" or not trial.kind.uses_device]
        gpu = [trial for trial in trials if slots[0] != "cpu" and trial.kind.uses_device]
        for group, where in ((cpu, on_cores), (gpu, compute)):
            if self.workers == 0:
                self._run_here(group, store, listener, where)
            else:
                self._run_in_processes(deque(group), store, listener, where)

    def _run_here(self, trials: Sequence[TrialSpec], store: Store, listener: Listener, compute: Compute) -> None:
        for trial in trials:
            listener(Progress(trial, "start"))

            def on_epoch(epoch: Epoch, trial: TrialSpec = trial) -> None:
                listener(Progress(trial, "epoch", epoch.epoch))

            run_and_record(trial, store, on_epoch, compute=compute.placed())
            listener(Progress(trial, "end"))

    def _run_in_processes(self, queue: deque[TrialSpec], store: Store, listener: Listener, compute: Compute) -> None:
        context = worker_context(sklearn=any(trial.kind.needs_sklearn for trial in queue))
        running: dict[Connection, _Run] = {}
        free = compute.slots(self.workers)
        try:
            while queue or running:
                while queue and free:
                    at_once = min(len(running) + len(free), len(running) + len(queue))
                    trial, device = queue.popleft(), free.pop(0)
                    ours, theirs = context.Pipe(duplex=False)
                    args = (
                        trial.to_dict(),
                        store.path,
                        theirs,
                        user_code(trial.plugins),
                        environment_settings(),
                        compute.placed(device, at_once),
                    )
                    process = context.Process(target=work, args=args, daemon=True)  # type: ignore[attr-defined]
                    running[ours] = _Run(process, trial, device, time.monotonic())  # first: Ctrl-C may come at any time
                    with nullcontext() if _needs_main(trial) else without_main():
                        process.start()
                    theirs.close()
                    listener(Progress(trial, "start"))
                for connection in wait(list(running), timeout=self._poll_seconds(running)):
                    free += _receive(connection, running, store, listener)  # type: ignore[arg-type]
                self._kill_hanging(running)
        except BaseException:
            started = [run for run in running.values() if run.process.pid is not None]
            for run in started:
                run.process.terminate()
            for run in started:
                with suppress(GraphTrialError):  # the store may be the cause
                    record_interruption(run.trial, store)
            for run in started:
                run.process.join()
            raise

    def _poll_seconds(self, running: dict[Connection, _Run]) -> float:
        limits = [timeout_seconds(run.trial, self.grace_seconds) for run in running.values()]
        return min([POLL_SECONDS, *limits])

    def _kill_hanging(self, running: dict[Connection, _Run]) -> None:
        for run in running.values():
            silent = time.monotonic() - run.last_update
            if silent > timeout_seconds(run.trial, self.grace_seconds) and not run.silent_seconds:
                run.silent_seconds = silent
                run.process.kill()  # closes its pipe


def _needs_main(trial: TrialSpec) -> bool:
    """Return whether a trial uses something that the user's script defines."""
    return any(name.partition("~")[0] == "__main__" for name in trial.plugins)


def _receive(connection: Connection, running: dict[Connection, _Run], store: Store, listener: Listener) -> list[str]:
    """Take an update of a trial; return its device, if it has ended."""
    run = running[connection]
    trial, process = run.trial, run.process
    try:
        listener(Progress(trial, "epoch", connection.recv()))
        run.last_update = time.monotonic()
        return []
    except EOFError:
        connection.close()
        process.join()
        stored = store.trials([trial.id])
        if process.exitcode or not stored or stored[0].status == "running":
            ended = f"the worker process ended with code {process.exitcode}{_reason(process.exitcode)}"
            error = timeout_error(run.silent_seconds) if run.silent_seconds else ended
            record_result(trial, store, TrialResult(None, error=error))
        del running[connection]
        listener(Progress(trial, "end"))
        return [run.device]


def _reason(code: int | None) -> str:
    if code == 0:
        return " before the trial had a result: its code ended the process"
    return ": it was killed, perhaps because memory ran out" if code == -9 else ""
