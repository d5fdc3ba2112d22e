"""A worker process: run one trial and record its result."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from filelock import FileLock

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import make_folder
from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.plugins.loader import UserCode
from graphtrial.core.process import memory_meter
from graphtrial.execution.recording import TrialResult, record_interruption, record_result, record_start
from graphtrial.training.outcome import Epoch
from graphtrial.trials.environment import environment
from graphtrial.trials.heartbeat import heartbeat
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec, run_trial


class DriverGoneError(Exception):
    """The driver process that started the trial has ended."""


def run_and_record(
    spec: TrialSpec,
    store: Store,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    measured: Callable[[], dict[str, Any]] = dict,
    compute: Compute = ONE_CORE,
) -> None:
    """Run one trial and record every epoch and the result in the store; a finished trial is skipped.

    `measured` is called at the end and its values are added to the details of the result. The trial is locked while it
    runs, so that a second process with the same trial waits and then skips it. A failure is recorded with its traceback
    and not raised.
    """
    make_folder(store.trial_folder(spec.id))
    with FileLock(store.lock_file(spec.id)):
        stored = store.trials([spec.id])
        if stored and stored[0].is_finished:
            return

        def record_epoch(epoch: Epoch) -> None:
            store.add_epochs(spec.id, [epoch])
            on_epoch(epoch)

        try:
            compute.devices()  # one that is not here fails the trial
            with heartbeat(store, spec.id):
                record_start(spec, store, environment(compute))
                outcome = run_trial(spec, store.checkpoint_file(spec.id), record_epoch, compute)
            complete = replace(outcome, details={**outcome.details, **measured()})
            record_result(spec, store, TrialResult.of(complete))
        except BaseException as error:
            if isinstance(error, DriverGoneError | KeyboardInterrupt) or _printed_to_closed_pipe(error):
                record_interruption(spec, store)
                raise
            record_result(spec, store, TrialResult.failed(error))


def work(
    values: dict[str, Any],
    store_path: Path,
    driver: Connection,
    code: UserCode,
    settings: Mapping[str, str],
    compute: Compute,
) -> None:
    """Run a trial in a worker process and report each epoch to the driver; return if the driver has ended.

    `settings` are the `environment_settings` of the driver; those of the fork server may be outdated.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    for name in environment_settings():
        del os.environ[name]
    os.environ.update(settings)

    def report(epoch: Epoch) -> None:
        try:
            driver.send(epoch.epoch)
        except OSError:
            raise DriverGoneError from None

    try:
        code.load()
        store = Store(store_path)
        with store.kept_open():
            run_and_record(TrialSpec.from_dict(values), store, report, memory_meter(), compute)
    except DriverGoneError:
        return
    except BrokenPipeError as error:
        if not _printed_to_closed_pipe(error):
            raise
    except GraphTrialError as error:  # the store cannot be written
        raise SystemExit(f"graphtrial: {error}") from None
    finally:
        _flush()


def _printed_to_closed_pipe(error: BaseException) -> bool:
    if not isinstance(error, BrokenPipeError):
        return False
    from graphtrial.core.terminal import output_is_closed

    return output_is_closed()


def _flush() -> None:
    """Flush what a model has printed; multiprocessing would take a closed pipe for a failure of the process."""
    try:
        print(end="", flush=True)
    except (OSError, ValueError):
        from graphtrial.core.terminal import discard_output

        discard_output()


def environment_settings() -> dict[str, str]:
    """Return the environment variables that this package reads, such as `GRAPHTRIAL_HOME`."""
    return {name: value for name, value in os.environ.items() if name.startswith("GRAPHTRIAL_")}
