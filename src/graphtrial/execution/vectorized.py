"""Executor that trains trials of one row, which differ in split and seed alone, in one vectorized loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import make_folder
from graphtrial.core.hardware.compute import AUTOMATIC, ONE_CORE, Compute
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import canonical_json
from graphtrial.execution.processes import Processes
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.recording import TrialResult, record_result, record_start
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials.environment import BATCHED_TRIALS, environment
from graphtrial.trials.heartbeat import heartbeat
from graphtrial.trials.provenance import check_plugins
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec, make_job


@dataclass(frozen=True)
class Vectorized:
    """Train up to `batch_size` trials of one row in one vectorized loop in this process, where model and data allow it.

    They compute on the CPU. All others, and trials that pause, run in processes afterwards. A trial is recorded when it
    ends; an interrupted one is restarted from epoch 1.
    """

    batch_size: PositiveInt = 20

    def __post_init__(self) -> None:
        check_fields(self, "the executor")

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener, compute: Compute = AUTOMATIC) -> None:
        """Run these trials and record their results."""
        if compute.kind not in ("auto", "cpu") or compute.compile:
            raise GraphTrialError("the vectorized executor computes on the CPU, not compiled: use --executor processes")
        here = replace(compute, device="cpu").placed()
        rows: dict[str, list[TrialSpec]] = {}
        others = []
        for trial in trials:
            if compute.pause_at is None and trial.kind.can_vectorize(trial):
                rows.setdefault(canonical_json(trial.row), []).append(trial)
            else:
                others.append(trial)
        for row in rows.values():
            for batch in _batches(row, self.batch_size):
                run_batch(batch, store, listener, here)
        if others:
            Processes().run(others, store, listener, compute)


def run_batch(
    batched_trials: Sequence[TrialSpec], store: Store, listener: Listener, compute: Compute = ONE_CORE
) -> None:
    """Train trials of one row in one vectorized loop and record each result when its training ends.

    All trials are locked while they run; finished ones are skipped. An error fails every trial of the batch.
    """
    from graphtrial.training.vectorized import train_vectorized

    with ExitStack() as locks:
        for trial in sorted(batched_trials, key=lambda trial: trial.id):  # one order: no deadlock
            locks.enter_context(FileLock(_lock_of(trial, store)))
        ids = [trial.id for trial in batched_trials]
        finished = {record.id for record in store.trials(ids) if record.is_finished}
        missing = [trial for trial in batched_trials if trial.id not in finished]
        for trial in missing:
            record_start(trial, store, {**environment(compute), BATCHED_TRIALS: len(missing)})
            listener(Progress(trial, "start"))

        def on_epoch(number: int, epoch: Epoch) -> None:
            listener(Progress(missing[number], "epoch", epoch.epoch))

        def on_end(number: int, outcome: Outcome) -> None:
            record_result(missing[number], store, TrialResult.of(outcome))
            listener(Progress(missing[number], "end"))

        try:
            for trial in missing:
                check_plugins(trial)
            if missing:
                with heartbeat(store, *(trial.id for trial in missing)):
                    train_vectorized([make_job(trial) for trial in missing], on_epoch, on_end, compute)
        except KeyboardInterrupt:
            for trial in missing:
                store.mark(trial.id, "interrupted")  # finished ones stay finished
            raise
        except BaseException as error:  # noqa: BLE001 - an error of a model fails its trials, not the study
            for trial in missing:
                record_result(trial, store, TrialResult.failed(error))


def _lock_of(trial: TrialSpec, store: Store) -> Path:
    make_folder(store.trial_folder(trial.id))
    return store.lock_file(trial.id)


def _batches(trials: Sequence[TrialSpec], batch_size: int) -> Iterator[Sequence[TrialSpec]]:
    """Yield batches of nearly equal size, none larger than `batch_size`."""
    count = -(-len(trials) // batch_size)
    for number in range(count):
        yield trials[len(trials) * number // count : len(trials) * (number + 1) // count]
