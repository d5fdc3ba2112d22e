"""Trials that differ in split and seed alone, on one graph, in one training: each has its own record in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.files import make_folder
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import canonical_json
from graphtrial.execution.processes import Processes
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.worker import failure, record_start
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials.provenance import check_plugins
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec, make_job
from graphtrial.trials.weights import packed


@dataclass(frozen=True)
class Together:
    """Trains up to `most` trials of one row at once in this process, where the model and the data allow it.

    All others run in processes afterwards. A trial is written down when it ends; one that is interrupted begins anew.
    """

    most: PositiveInt = 20

    def __post_init__(self) -> None:
        check_fields(self, "the executor")

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener) -> None:
        """Run these trials and store their results."""
        rows: dict[str, list[TrialSpec]] = {}
        others = []
        for trial in trials:
            if trial.kind.can_vectorize(trial):
                rows.setdefault(canonical_json(trial.row), []).append(trial)
            else:
                others.append(trial)
        for row in rows.values():
            for group in _parts(row, self.most):
                run_group(group, store, listener)
        if others:
            Processes().run(others, store, listener)


def run_group(group: Sequence[TrialSpec], store: Store, listener: Listener) -> None:
    """Train trials of one row at once and write each result down as soon as it is there.

    Their locks are held meanwhile; those that have a result by then are left alone. A failure is that of all.
    """
    from graphtrial.training.vectorized import train_together

    with ExitStack() as locks:
        for trial in sorted(group, key=lambda trial: trial.id):  # always in one order, so that nobody waits for ever
            locks.enter_context(FileLock(_lock_of(trial, store)))
        known = {record.id for record in store.trials([trial.id for trial in group]) if record.is_finished}
        missing = [trial for trial in group if trial.id not in known]
        for trial in missing:
            record_start(trial, store, len(missing))
            listener(Progress(trial, "start"))

        def heard(number: int, epoch: Epoch) -> None:
            listener(Progress(missing[number], "epoch", epoch.epoch))

        def ended(number: int, outcome: Outcome) -> None:
            _keep(missing[number], store, outcome)
            listener(Progress(missing[number], "end"))

        try:
            for trial in missing:
                check_plugins(trial)
            if missing:
                train_together([make_job(trial) for trial in missing], heard, ended)
        except KeyboardInterrupt:
            _mark(missing, store, "interrupted")
            raise
        except BaseException as error:  # noqa: BLE001 - what a model does wrong is a fact about the trials, not the study
            _mark(missing, store, "failed", failure(error))


def _keep(trial: TrialSpec, store: Store, outcome: Outcome) -> None:
    """Write the weights and the result of a trial down."""
    store.finish(trial.id, outcome, packed(outcome.weights))
    Checkpoint(store.checkpoint_file(trial.id)).remove()


def _lock_of(trial: TrialSpec, store: Store) -> Path:
    make_folder(store.trial_folder(trial.id))
    return store.lock_file(trial.id)


def _mark(trials: Sequence[TrialSpec], store: Store, status: str, error: str | None = None) -> None:
    for trial in trials:
        store.mark(trial.id, status, error)  # one that is finished stays so


def _parts(trials: Sequence[TrialSpec], most: int) -> Iterator[Sequence[TrialSpec]]:
    """Yield parts of nearly equal size, none larger than `most`."""
    count = -(-len(trials) // most)
    for number in range(count):
        yield trials[len(trials) * number // count : len(trials) * (number + 1) // count]
