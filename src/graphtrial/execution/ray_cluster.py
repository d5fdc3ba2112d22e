"""Executor on a Ray cluster: many machines, one store; a lost machine costs at most one epoch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from filelock import FileLock, Timeout

from graphtrial.core.arguments import NonNegativeFloat, Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import make_folder
from graphtrial.core.hardware.compute import AUTOMATIC, Compute
from graphtrial.core.signatures import check_fields
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.ray_tasks import connected, import_ray, run_task, start_mailbox, wait_for_tasks
from graphtrial.execution.recording import TrialResult, record_interruption, record_result
from graphtrial.execution.remote import RemoteUpdate
from graphtrial.execution.remote_store import record_updates, remote_job
from graphtrial.execution.watchdog import GRACE_SECONDS, timeout_error, timeout_seconds
from graphtrial.trials.heartbeat import beat_once, end_heartbeat
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec

COUNT_SECONDS = 5.0
"""Time between two counts of the CPUs of the cluster."""
ATTEMPTS = 3
"""Maximum number of times in a row that a trial may be lost without an epoch in between."""


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

    Each trial gets `cpus` cores, of which it uses as many threads, and `memory_gb` of the machine it runs on. On GPUs
    it gets one, or the fraction that `per_device` of the computation leaves it; `gpus` asks for another amount. Every
    machine prepares a dataset once, in its own GRAPHTRIAL_HOME. The driver alone writes to the store. After each epoch
    the checkpoint of a trial is sent to it, at a checkpoint interval of at least `checkpoint_seconds`.
    """

    address: str = "local"
    cpus: Annotated[float, Range(0, 4096, above=True)] = 1
    memory_gb: Annotated[float, Range(0, 1e6)] = 0
    gpus: Annotated[float, Range(0, 4096)] = 0
    checkpoint_seconds: NonNegativeFloat = 0
    grace_seconds: NonNegativeFloat = GRACE_SECONDS
    _counted: tuple[float, int] = field(default=(-COUNT_SECONDS, 1), init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "the executor")
        if any(amount > 1 and amount % 1 for amount in (self.cpus, self.gpus)):
            raise GraphTrialError("cpus and gpus above 1 must be integers on Ray")
        if self.address.startswith("ray://"):
            raise GraphTrialError("run the command on a machine of the cluster and give its address without ray://")

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener, compute: Compute = AUTOMATIC) -> None:
        """Run these trials and record their results."""
        self._check(compute)
        ray = import_ray()
        with connected(ray, self.address):
            mailbox = start_mailbox(ray)
            compute, gpus = self.resources(compute, ray.cluster_resources().get("GPU", 0))
            options = {"num_cpus": self.cpus, "num_gpus": gpus, "memory": int(1e9 * self.memory_gb) or None}
            task = ray.remote(run_task).options(max_retries=0, **options)
            waiting = deque(_Run(trial, FileLock(store.lock_file(trial.id))) for trial in trials)
            running: dict[Any, _Run] = {}
            try:
                while waiting or running:
                    self._submit(ray, task, mailbox, waiting, running, store, compute, gpus)
                    ended = wait_for_tasks(ray, list(running))
                    self._receive(ray, mailbox, running, store, listener)
                    for reference in ended:
                        self._end(ray, reference, running.pop(reference), waiting, store, listener)
                    self._kill_hanging(ray, running)
            except BaseException as error:
                for run in running.values():
                    with suppress(GraphTrialError):  # the store may be the cause
                        if run.last_update is not None:  # the others are queued
                            record_interruption(run.trial, store)
                if isinstance(error, ray.exceptions.RayError):
                    lost = f"the Ray cluster is gone ({' '.join(str(error).split())}); the same command resumes"
                    raise GraphTrialError(lost) from error
                raise
            finally:
                for run in (*running.values(), *waiting):
                    run.lock.release(force=True)
                with suppress(ray.exceptions.RayError):
                    for reference in running:
                        ray.cancel(reference, force=True)
                    ray.kill(mailbox)

    def session(self) -> AbstractContextManager[None]:
        """Return a connection to the cluster that several runs share."""
        return connected(import_ray(), self.address)

    def resources(self, compute: Compute, cluster_gpus: float) -> tuple[Compute, float]:
        """Return the computation on a machine of a cluster with that many GPUs, and the GPUs of each trial."""
        threads = compute.threads or max(1, int(self.cpus))
        wanted = compute.kind == "cuda" or (compute.kind == "auto" and (self.gpus or cluster_gpus >= 1))
        if not wanted:
            return replace(compute, device=compute.device if compute.kind == "mps" else "cpu", threads=threads), 0
        gpus = self.gpus or 1 / compute.per_device
        if cluster_gpus < gpus:
            raise GraphTrialError(f"each trial asks for {gpus:g} GPUs and the cluster has {cluster_gpus:g}")
        return replace(compute, device="cuda", threads=threads), gpus

    def _check(self, compute: Compute) -> None:
        if compute.device.startswith("cuda:"):
            raise GraphTrialError("Ray chooses the GPU of each trial: use --device cuda")
        if self.gpus and compute.kind in ("cpu", "mps"):
            raise GraphTrialError(f"gpus={self.gpus:g} would reserve GPUs that --device {compute.device} leaves idle")

    def _submit(
        self,
        ray: Any,
        task: Any,
        mailbox: Any,
        waiting: deque[_Run],
        running: dict[Any, _Run],
        store: Store,
        compute: Compute,
        gpus: float,
    ) -> None:
        """Submit trials until there are two per slot of the cluster: one running, one queued."""
        for _ in range(len(waiting)):
            if len(running) >= 2 * self._slots(ray, gpus):
                return
            run = waiting.popleft()
            if not _lock(run, store):
                continue  # finished by another command
            if not run.lock.is_locked:  # another command runs it
                waiting.append(run)
                continue
            run.last_update, run.silent_seconds = None, 0.0
            own = task if run.trial.kind.uses_device else task.options(num_gpus=0)
            reference = own.remote(remote_job(run.trial, store, compute), mailbox, self.checkpoint_seconds)
            running[reference] = run

    def _slots(self, ray: Any, gpus: float) -> int:
        """Return the current number of slots of the cluster."""
        when, count = self._counted
        if time.monotonic() - when > COUNT_SECONDS:
            resources = ray.cluster_resources()
            limits = [resources.get("CPU", 1) / self.cpus, *([resources.get("GPU", 0) / gpus] if gpus else [])]
            count = max(1, int(min(limits)))
            self._counted = (time.monotonic(), count)
        return count

    def _receive(self, ray: Any, mailbox: Any, running: dict[Any, _Run], store: Store, listener: Listener) -> None:
        updates = [RemoteUpdate.from_dict(update) for update in ray.get(mailbox.take.remote())]
        runs = {run.trial.id: run for run in running.values()}
        record_updates(updates, {name: run.trial for name, run in runs.items()}, store)
        for update in updates:
            run = runs.get(update.trial)
            if run is None:
                continue
            run.last_update = time.monotonic()
            beat_once(store, run.trial.id)
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
        end_heartbeat(store, run.trial.id)
        run.lock.release(force=True)
        listener(Progress(run.trial, "end"))

    def _kill_hanging(self, ray: Any, running: dict[Any, _Run]) -> None:
        for reference, run in running.items():
            silent = 0.0 if run.last_update is None else time.monotonic() - run.last_update
            if silent > timeout_seconds(run.trial, self.grace_seconds) and not run.silent_seconds:
                run.silent_seconds = silent
                ray.cancel(reference, force=True)


def _lock(run: _Run, store: Store) -> bool:
    """Lock a trial unless another command has locked it; return whether it is unfinished."""
    if not run.lock.is_locked:
        make_folder(store.trial_folder(run.trial.id))
        try:
            run.lock.acquire(timeout=0)
        except Timeout:
            return True
    stored = store.trials([run.trial.id])
    if stored and stored[0].is_finished:
        run.lock.release(force=True)
        return False
    return True
