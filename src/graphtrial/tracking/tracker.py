"""What a tracker is, and how it listens without being able to harm a trial."""

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
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store, TrialRecord

logger = logging.getLogger(__name__)


class Tracker(Protocol):
    """Where trials are shown besides the store. It is called in the process that started them, one call at a time."""

    def __init__(self, folder: Path) -> None:
        """Get ready to write to `folder`; a missing library is an error that names the extra."""

    def start(self, record: TrialRecord) -> None:
        """Hear that a trial starts, or starts again."""

    def epoch(self, record: TrialRecord, epoch: Epoch) -> None:
        """Hear of a finished epoch."""

    def end(self, record: TrialRecord) -> None:
        """Hear how a trial ended, with its scores."""

    def close(self) -> None:
        """Write what is left."""


TRACKERS: dict[str, Callable[[Path], Tracker]] = {"mlflow": MLflow, "tensorboard": TensorBoard}


@contextmanager
def tracked(name: str | None, store: Store, listener: Listener) -> Iterator[Listener]:
    """Yield a listener that also tells the tracker called `name`, or the listener itself where there is none.

    The tracker hears what the store has. When it fails, that is said once and it is not asked again: the trials go on.
    """
    if name is None:
        yield listener
        return
    if name not in TRACKERS:
        raise UnknownNameError(
            f"no tracker called '{name}'.{did_you_mean(name, TRACKERS)} Known trackers: {', '.join(TRACKERS)}."
        )
    guard = _Guard(name, store)

    def listen(progress: Progress) -> None:
        listener(progress)
        guard.attempt(lambda tracker: guard.pass_on(tracker, progress))

    try:
        yield listen
    finally:
        guard.attempt(lambda tracker: tracker.close())


class _Guard:
    """Keeps the failures of a tracker to itself; only a missing library is an error, before anything runs."""

    def __init__(self, name: str, store: Store) -> None:
        self.name, self.store = name, store
        self.told: dict[str, int] = {}
        self.tracker: Tracker | None = None
        try:
            self.tracker = TRACKERS[name](store.path.parent)
        except MissingDependencyError:
            raise
        except Exception as error:  # noqa: BLE001 - a server that cannot be reached must not keep trials from running
            self._give_up(error)

    def attempt(self, step: Callable[[Tracker], None]) -> None:
        """Let the tracker do something, if it still can."""
        if self.tracker is None:
            return
        try:
            step(self.tracker)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a foreign library must not reach the trials
            self._give_up(error)

    def pass_on(self, tracker: Tracker, progress: Progress) -> None:
        """Tell the tracker what the store has of a trial and it has not heard yet."""
        known = self.store.trials([progress.trial.id])
        if not known:  # its process has not said yet that it started; the first epoch will
            return
        record = known[0]
        if record.id not in self.told:
            tracker.start(record)
            self.told[record.id] = 0
        for epoch in self.store.history(record.id):
            if epoch.epoch > self.told[record.id]:
                tracker.epoch(record, epoch)
                self.told[record.id] = epoch.epoch
        if progress.event == "end":
            tracker.end(record)
            del self.told[record.id]

    def _give_up(self, error: Exception) -> None:
        self.tracker = None
        logger.warning("%s is not told any more, the trials go on: %s", self.name, error)
