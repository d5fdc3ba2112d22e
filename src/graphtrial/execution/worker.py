"""What one worker process does: run one trial and write its result down."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from filelock import FileLock

from graphtrial.core import plugins
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import is_locked, make_folder
from graphtrial.core.process import memory_meter
from graphtrial.datasets.base import DATASETS
from graphtrial.datasets.prepare import source_at_hand, task_of
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch
from graphtrial.trials.environment import environment
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec, run_trial
from graphtrial.trials.weights import packed

NO_METRIC = "unknown"
"""The metric of a trial whose data cannot be loaded, until a start that can."""


class DriverGoneError(Exception):
    """The process that asked for the trial is no longer there to hear of it."""


def run_and_record(
    spec: TrialSpec,
    store: Store,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    measured: Callable[[], dict[str, Any]] = dict,
) -> None:
    """Run one trial and write every epoch and the result to the store; a finished trial is left alone.

    What `measured` tells at the end is kept among the details of the result.

    While it runs, the trial is locked: a second process that wants the same one waits and then finds it finished. A
    failure is written down with its traceback and not raised.
    """
    make_folder(store.trial_folder(spec.id))
    with FileLock(store.lock_file(spec.id)):
        checkpoint = store.checkpoint_file(spec.id)
        known = store.trials([spec.id])
        if known and known[0].is_finished:
            return
        record_start(spec, store)

        def heard(epoch: Epoch) -> None:
            store.add_epochs(spec.id, [epoch])
            on_epoch(epoch)

        try:
            outcome = run_trial(spec, checkpoint, heard)
            complete = replace(outcome, details={**outcome.details, **measured()})
            store.finish(spec.id, complete, packed(outcome.weights))
        except (DriverGoneError, KeyboardInterrupt):
            store.mark(spec.id, "interrupted")
            raise
        except BaseException as error:  # noqa: BLE001 - what a model does wrong is a fact about the trial, not the study
            store.mark(spec.id, "failed", failure(error))
            return
        Checkpoint(checkpoint).remove()


def failure(error: BaseException) -> str:
    """Return why a trial failed: the words of an error made for people, the traceback of any other.

    `sys.exit()` in a model ends the trial and not the process that runs it, so that it is no success whatever its code.
    """
    if isinstance(error, GraphTrialError):
        return str(error)
    return "".join(traceback.format_exception(error))


def record_start(spec: TrialSpec, store: Store, together: int = 1) -> None:
    """Note in the store that a trial starts, here and now, alone or so many in one training."""
    record_start_at(spec, store, environment() if together == 1 else {**environment(), "together": together})


def record_start_at(spec: TrialSpec, store: Store, where: dict[str, Any]) -> None:
    """Note in the store that a trial starts in that environment, with the metric of its dataset as loaded."""
    where = {**where, **_source(spec.dataset)}
    try:
        task = task_of(spec.dataset)
    except GraphTrialError:  # the trial will fail for the same reason, and be left without scores
        store.start(spec, NO_METRIC, True, where)
        return
    store.start(spec, task.metric.title, task.metric.higher_is_better, where)


def _source(dataset: str) -> dict[str, str]:
    """Return the source that the data are made from; a trial on remote data of the same hash has the same data."""
    try:
        source = source_at_hand(DATASETS.get(dataset)())
    except GraphTrialError:
        return {}
    return {} if source is None else {"source": source.name}


def work(
    values: dict[str, Any], store_path: Path, driver: Connection, code: plugins.UserCode, settings: Mapping[str, str]
) -> None:
    """Run a trial in a process of its own and tell the driver of each epoch; end quietly when the driver is gone.

    `settings` are the driver's `environment_settings`: those of the fork server are of the time it was started.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    for name in environment_settings():
        del os.environ[name]
    os.environ.update(settings)

    def tell(epoch: Epoch) -> None:
        try:
            driver.send(epoch.epoch)
        except OSError:
            raise DriverGoneError from None

    try:
        code.load()
        run_and_record(TrialSpec.from_dict(values), Store(store_path), tell, memory_meter())
    except DriverGoneError:
        return
    except GraphTrialError as error:  # the store itself cannot be written
        raise SystemExit(f"graphtrial: {error}") from None


def environment_settings() -> dict[str, str]:
    """Return the environment variables that this package reads, such as `GRAPHTRIAL_HOME`."""
    return {name: value for name, value in os.environ.items() if name.startswith("GRAPHTRIAL_")}


def is_running(store: Store, trial: str) -> bool:
    """Tell whether some process holds the trial's lock at this moment."""
    return is_locked(store.lock_file(trial))
