"""Interface of trackers, and a listener that isolates trials from their failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from graphtrial.core.errors import MissingDependencyError, UnknownNameError, did_you_mean
from graphtrial.execution.progress import Listener, Progress
from graphtrial.tracking.mlflow import MLflow
from graphtrial.tracking.tensorboard import TensorBoard
from graphtrial.tracking.wandb import WeightsAndBiases
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store, TrialRecord

logger = logging.getLogger(__name__)


class Tracker(Protocol):
    """Interface of trackers. Methods are called one at a time, in the process that started the trials."""

    def __init__(self, folder: Path) -> None:
        """Prepare to write to `folder`; a missing library is an error that names the extra."""

    def start(self, record: TrialRecord) -> None:
        """Start or resume the run of a trial."""

    def epoch(self, record: TrialRecord, epoch: Epoch) -> None:
        """Log the metrics of an epoch."""

    def end(self, record: TrialRecord) -> None:
        """Log the final scores and end the run of a trial."""

    def close(self) -> None:
        """Flush and close all runs."""


TRACKERS: dict[str, Callable[[Path], Tracker]] = {
    "mlflow": MLflow,
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
}


@contextmanager
def tracked(name: str | None, store: Store, listener: Listener) -> Iterator[Listener]:
    """Yield a listener that also logs to the tracker called `name`, or the listener itself without a name.

    The tracker receives what the store has recorded. Its first failure is logged and disables it; trials continue.
    """
    if name is None:
        yield listener
        return
    if name not in TRACKERS:
        raise UnknownNameError(
            f"no tracker called '{name}'.{did_you_mean(name, TRACKERS)} Trackers: {', '.join(TRACKERS)}."
        )
    guard = _Guard(name, store)

    def listen(progress: Progress) -> None:
        listener(progress)
        guard.attempt(lambda tracker: guard.log(tracker, progress))

    try:
        yield listen
    finally:
        guard.attempt(lambda tracker: tracker.close())


class _Guard:
    """Disables a tracker that fails; only a missing library is an error, before anything runs."""

    def __init__(self, name: str, store: Store) -> None:
        self.name, self.store = name, store
        self.last_epoch: dict[str, int] = {}
        self.tracker: Tracker | None = None
        try:
            self.tracker = TRACKERS[name](store.path.parent)
        except MissingDependencyError:
            raise
        except Exception as error:  # noqa: BLE001 - an unreachable server must not stop the trials
            self._disable(error)

    def attempt(self, step: Callable[[Tracker], None]) -> None:
        """Call the tracker unless it is disabled."""
        if self.tracker is None:
            return
        try:
            step(self.tracker)
        except Exception as error:  # noqa: BLE001 - errors of the library must not reach the trials
            self._disable(error)

    def log(self, tracker: Tracker, progress: Progress) -> None:
        """Log the events of a trial in the store that are new to the tracker."""
        stored = self.store.trials([progress.trial.id])
        if not stored:  # its start is not recorded yet
            return
        record = stored[0]
        if record.id not in self.last_epoch:
            tracker.start(record)
            self.last_epoch[record.id] = 0
        for epoch in self.store.history(record.id):
            if epoch.epoch > self.last_epoch[record.id]:
                tracker.epoch(record, epoch)
                self.last_epoch[record.id] = epoch.epoch
        if progress.event == "end":
            tracker.end(record)
            del self.last_epoch[record.id]

    def _disable(self, error: Exception) -> None:
        self.tracker = None
        logger.warning("%s failed and is disabled, the trials continue: %s", self.name, error)
