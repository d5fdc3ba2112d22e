"""Many trials at once: one process each, one thread each, as many as there are cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from graphtrial import plugins
from graphtrial.studies.store import Store
from graphtrial.studies.trial import TrialSpec
from graphtrial.studies.worker import record_start, run_and_record, work
from graphtrial.training import SvmRules
from graphtrial.workers import cores, worker_context


@dataclass(frozen=True)
class Progress:
    """What a listener hears: a trial started, finished an epoch, or ended."""

    trial: TrialSpec
    event: str
    epoch: int = 0


Listener = Callable[[Progress], None]


def run_trials(
    trials: Sequence[TrialSpec], store: Store, *, workers: int | None = None, listener: Listener = lambda progress: None
) -> None:
    """Run every trial that has no result yet, `workers` at a time (all cores by default), and store the results.

    With `workers = 0` they run in this process, one after the other. Ctrl-C ends the running ones, marks them
    interrupted, and passes on; they go on from their last epoch when asked for again.
    """
    finished = {record.id for record in store.trials() if record.is_finished}
    missing = [trial for trial in {t.id: t for t in trials}.values() if trial.id not in finished]
    if workers == 0:
        for trial in missing:
            listener(Progress(trial, "start"))
            run_and_record(trial, store, lambda e, trial=trial: listener(Progress(trial, "epoch", e.epoch)))  # type: ignore[misc]
            listener(Progress(trial, "end"))
    else:
        _run_in_processes(deque(missing), store, workers or cores(), listener)


def _run_in_processes(queue: deque[TrialSpec], store: Store, workers: int, listener: Listener) -> None:
    context = worker_context(svm=any(isinstance(trial.rules, SvmRules) for trial in queue))
    running: dict[Connection, tuple[BaseProcess, TrialSpec]] = {}
    try:
        while queue or running:
            while queue and len(running) < workers:
                trial = queue.popleft()
                ours, theirs = context.Pipe(duplex=False)
                args = (trial.to_dict(), store.path, theirs, plugins.sources(trial.plugins))
                process = context.Process(target=work, args=args, daemon=True)  # type: ignore[attr-defined]
                process.start()
                theirs.close()
                running[ours] = (process, trial)
                listener(Progress(trial, "start"))
            for connection in wait(list(running)):
                _hear(connection, running, store, listener)  # type: ignore[arg-type]
    except BaseException:
        for process, trial in running.values():
            process.terminate()
            process.join()
            store.mark(trial.id, "interrupted")
        raise


def _hear(
    connection: Connection, running: dict[Connection, tuple[BaseProcess, TrialSpec]], store: Store, listener: Listener
) -> None:
    process, trial = running[connection]
    try:
        listener(Progress(trial, "epoch", connection.recv()))
    except EOFError:
        connection.close()
        process.join()
        if process.exitcode:
            if not store.trials([trial.id]):  # it ended before it could say that it started
                record_start(trial, store)
            store.mark(
                trial.id, "failed", f"the worker process ended with code {process.exitcode}{_reason(process.exitcode)}"
            )
        del running[connection]
        listener(Progress(trial, "end"))


def _reason(code: int) -> str:
    return ": it was killed, perhaps because memory ran out" if code == -9 else ""
