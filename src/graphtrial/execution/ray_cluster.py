"""Executor on a Ray cluster: many machines, one store; a lost machine costs at most one epoch."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from filelock import FileLock, Timeout

from graphtrial.core.arguments import NonNegativeFloat, Range
from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.core.files import make_folder
from graphtrial.core.signatures import check_fields
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.recording import TrialResult, record_result
from graphtrial.execution.remote import RemoteJob, RemoteUpdate, run_remote
from graphtrial.execution.remote_store import record_updates, remote_job
from graphtrial.execution.watchdog import GRACE_SECONDS, timeout_error, timeout_seconds
from graphtrial.execution.worker import DriverGoneError
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec

POLL_SECONDS = 0.5
COUNT_SECONDS = 5.0
ATTEMPTS = 3
"""How often in a row a trial may be lost without an epoch in between."""


@dataclass
class _Run:
    """A trial of this driver, from its lock to its result."""

    trial: TrialSpec
    lock: FileLock
    attempts: int = 0
    last_update: float | None = None
    silent_seconds: float = 0.0


@dataclass
class RayCluster:
    """Run trials on the Ray cluster at `address`: `local` starts one on this machine, `auto` finds a running one.

    Each trial gets `cpus` cores, `gpus` and `memory_gb` of the machine it runs on; it computes with one thread. Every
    machine prepares a dataset once, in its own GRAPHTRIAL_HOME. The driver alone writes to the store. After each epoch
    the checkpoint of a trial is sent to it, but not more often than every `state_seconds`.
    """

    address: str = "local"
    cpus: Annotated[float, Range(0, 4096, above=True)] = 1
    memory_gb: Annotated[float, Range(0, 1e6)] = 0
    gpus: Annotated[float, Range(0, 4096)] = 0
    state_seconds: NonNegativeFloat = 0
    grace_seconds: NonNegativeFloat = GRACE_SECONDS
    _counted: tuple[float, int] = field(default=(-COUNT_SECONDS, 1), init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "the executor")
        if any(amount > 1 and amount % 1 for amount in (self.cpus, self.gpus)):
            raise GraphTrialError("cpus and gpus above 1 must be integers on Ray")
        if self.address.startswith("ray://"):
            raise GraphTrialError("run the command on a machine of the cluster and give its address without ray://")

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener) -> None:
        """Run these trials and record their results."""
        ray = _ray()
        with self._connected(ray):
            mailbox = _mailbox(ray)
            options = {"num_cpus": self.cpus, "num_gpus": self.gpus, "memory": int(1e9 * self.memory_gb) or None}
            task = ray.remote(_task).options(max_retries=0, **options)
            waiting = deque(_Run(trial, FileLock(store.lock_file(trial.id))) for trial in trials)
            running: dict[Any, _Run] = {}
            try:
                while waiting or running:
                    self._submit(ray, task, mailbox, waiting, running, store)
                    ended = _ended(ray, list(running))
                    self._receive(ray, mailbox, running, store, listener)
                    for reference in ended:
                        self._end(ray, reference, running.pop(reference), waiting, store, listener)
                    self._kill_hanging(ray, running)
            except BaseException as error:
                for run in running.values():
                    with suppress(GraphTrialError):  # the store may be what went wrong
                        store.mark(run.trial.id, "interrupted")
                if isinstance(error, ray.exceptions.RayError):
                    lost = f"the Ray cluster is gone ({' '.join(str(error).split())}); the same command goes on"
                    raise GraphTrialError(lost) from error
                raise
            finally:
                for run in (*running.values(), *waiting):
                    run.lock.release(force=True)
                with suppress(ray.exceptions.RayError):
                    for reference in running:
                        ray.cancel(reference, force=True)
                    ray.kill(mailbox)

    @contextmanager
    def _connected(self, ray: Any) -> Iterator[None]:
        if ray.is_initialized():
            yield
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        started = {"include_dashboard": False} if self.address == "local" else {}
        try:
            ray.init(self.address, job_config=_job_config(), **quiet, **started)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise GraphTrialError(f"cannot reach a Ray cluster at '{self.address}': {error}") from error
        try:
            yield
        finally:
            ray.shutdown()

    def _submit(
        self, ray: Any, task: Any, mailbox: Any, waiting: deque[_Run], running: dict[Any, _Run], store: Store
    ) -> None:
        """Submit trials until each slot of the cluster has one that runs and one that waits for it."""
        for _ in range(len(waiting)):
            if len(running) >= 2 * self._slots(ray):
                return
            run = waiting.popleft()
            if not _take(run, store):
                continue  # it has a result by now
            if not run.lock.is_locked:  # another command runs it at this moment
                waiting.append(run)
                continue
            run.last_update, run.silent_seconds = None, 0.0
            reference = task.remote(remote_job(run.trial, store), mailbox, self.state_seconds)
            running[reference] = run

    def _slots(self, ray: Any) -> int:
        """Return the number of slots of the cluster, which may grow and shrink."""
        when, count = self._counted
        if time.monotonic() - when > COUNT_SECONDS:
            count = max(1, int(ray.cluster_resources().get("CPU", 1) // self.cpus))
            self._counted = (time.monotonic(), count)
        return count

    def _receive(self, ray: Any, mailbox: Any, running: dict[Any, _Run], store: Store, listener: Listener) -> None:
        updates: list[RemoteUpdate] = ray.get(mailbox.take.remote())
        runs = {run.trial.id: run for run in running.values()}
        record_updates(updates, {name: run.trial for name, run in runs.items()}, store)
        for update in updates:
            run = runs.get(update.trial)
            if run is None:
                continue
            run.last_update = time.monotonic()
            if update.environment is not None:
                listener(Progress(run.trial, "start"))
            if update.epoch is not None:
                run.attempts = 0
                listener(Progress(run.trial, "epoch", update.epoch.epoch))

    def _end(self, ray: Any, reference: Any, run: _Run, waiting: deque[_Run], store: Store, listener: Listener) -> None:
        try:
            result: TrialResult = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            result = TrialResult(None, error=str(error))
        except ray.exceptions.RayError as error:  # the worker or its machine is gone
            run.attempts += 1
            if not run.silent_seconds and run.attempts < ATTEMPTS:
                waiting.appendleft(run)
                return
            reason = " ".join(str(error).split())
            lost = f"its process was lost {run.attempts} times in a row without an epoch in between: {reason}"
            result = TrialResult(None, error=timeout_error(run.silent_seconds) if run.silent_seconds else lost)
        record_result(run.trial, store, result)
        run.lock.release(force=True)
        listener(Progress(run.trial, "end"))

    def _kill_hanging(self, ray: Any, running: dict[Any, _Run]) -> None:
        for reference, run in running.items():
            silent = 0.0 if run.last_update is None else time.monotonic() - run.last_update
            if silent > timeout_seconds(run.trial, self.grace_seconds) and not run.silent_seconds:
                run.silent_seconds = silent
                ray.cancel(reference, force=True)


def _job_config() -> Any:
    """Return how workers are set up: with the folder of the user's script, but without the current folder.

    Ray would let them import from there first of all, and take a `numpy.py` in it for numpy.
    """
    from ray.job_config import JobConfig

    config: Any = JobConfig()
    script = os.path.dirname(os.path.realpath(sys.argv[0]))
    config._py_driver_sys_path = [script] if script in sys.path else []
    config._runtime_env_has_working_dir = lambda: True  # what Ray asks before it adds the current folder
    return config


def _task(job: RemoteJob, mailbox: Any, state_seconds: float) -> TrialResult:
    """Run one trial in a worker process of Ray."""
    ray = _ray()

    def send(update: RemoteUpdate) -> None:
        try:
            ray.get(mailbox.put.remote(update))  # waits until the driver's machine has it
        except ray.exceptions.RayError:
            raise DriverGoneError from None

    return run_remote(job, send, state_seconds=state_seconds)


class Mailbox:
    """Queue of updates between workers and driver; only the newest checkpoint of each trial is stored."""

    def __init__(self) -> None:
        self._updates: list[RemoteUpdate] = []

    def put(self, update: RemoteUpdate) -> None:
        """Append an update."""
        if update.state is not None:
            self._updates = [replace(u, state=None) if u.trial == update.trial else u for u in self._updates]
        self._updates.append(update)

    def take(self) -> list[RemoteUpdate]:
        """Return and remove all updates, oldest first."""
        taken, self._updates = self._updates, []
        return taken


def _mailbox(ray: Any) -> Any:
    """Start the mailbox on the machine of the driver, whose loss would end the driver as well."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=here).remote()


def _ended(ray: Any, references: list[Any]) -> list[Any]:
    """Return which tasks have ended, after waiting a little for the first."""
    if not references:
        time.sleep(POLL_SECONDS)
        return []
    first = ray.wait(references, num_returns=1, timeout=POLL_SECONDS)[0]
    ended: list[Any] = ray.wait(references, num_returns=len(references), timeout=0)[0] if first else []
    return ended


def _take(run: _Run, store: Store) -> bool:
    """Lock a trial unless another command has it; return whether it is still to be run."""
    if not run.lock.is_locked:
        make_folder(store.trial_folder(run.trial.id))
        try:
            run.lock.acquire(timeout=0)
        except Timeout:
            return True
    known = store.trials([run.trial.id])
    if known and known[0].is_finished:
        run.lock.release(force=True)
        return False
    return True


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise missing_extra("running trials on a cluster", "Ray", "ray") from None
    return ray
