"""Trials on a Ray cluster: many machines, one store, and a machine that is lost costs an epoch at most."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from filelock import FileLock, Timeout

from graphtrial.core.arguments import NonNegativeFloat, Range
from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.core.files import make_folder
from graphtrial.core.signatures import check_fields
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.remote import News, Parcel, Result, run_away
from graphtrial.execution.remote_store import parcel_of, take_news, take_result
from graphtrial.execution.watchdog import GRACE_SECONDS, patience_seconds, silence
from graphtrial.execution.worker import DriverGoneError
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec

LOOK_SECONDS = 0.5
COUNT_SECONDS = 5.0
ATTEMPTS = 3
"""How often in a row a trial may be lost before an epoch of it is heard of."""


@dataclass
class _Run:
    """A trial that this driver answers for, from its lock to its result."""

    trial: TrialSpec
    lock: FileLock
    attempts: int = 0
    last_sign: float | None = None
    silent_for: float = 0.0


@dataclass
class RayCluster:
    """Runs trials on the Ray cluster at `address`: `local` starts one on this machine, `auto` finds a running one.

    Each trial gets `cpus` cores, `gpus` and `memory_gb` of the machine it runs on; it computes with one thread. Every
    machine prepares a dataset once, in its own GRAPHTRIAL_HOME. The driver alone writes to the store. After each epoch
    the state of a trial comes back to it, but not more often than every `state_seconds`.
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
        """Run these trials and store their results."""
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
                    self._listen(ray, mailbox, running, store, listener)
                    for reference in ended:
                        self._end(ray, reference, running.pop(reference), waiting, store, listener)
                    self._end_those_that_hang(ray, running)
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
        """Hand out trials until each place of the cluster has one that runs and one that waits for it."""
        for _ in range(len(waiting)):
            if len(running) >= 2 * self._places(ray):
                return
            run = waiting.popleft()
            if not _take(run, store):
                continue  # it has a result by now
            if not run.lock.is_locked:  # another command runs it at this moment
                waiting.append(run)
                continue
            run.last_sign, run.silent_for = None, 0.0
            reference = task.remote(parcel_of(run.trial, store), mailbox, self.state_seconds)
            running[reference] = run

    def _places(self, ray: Any) -> int:
        """Return how many trials fit on the cluster, which may grow and shrink."""
        when, count = self._counted
        if time.monotonic() - when > COUNT_SECONDS:
            count = max(1, int(ray.cluster_resources().get("CPU", 1) // self.cpus))
            self._counted = (time.monotonic(), count)
        return count

    def _listen(self, ray: Any, mailbox: Any, running: dict[Any, _Run], store: Store, listener: Listener) -> None:
        heard: list[News] = ray.get(mailbox.take.remote())
        runs = {run.trial.id: run for run in running.values()}
        take_news(heard, {name: run.trial for name, run in runs.items()}, store)
        for news in heard:
            run = runs.get(news.trial)
            if run is None:
                continue
            run.last_sign = time.monotonic()
            if news.environment is not None:
                listener(Progress(run.trial, "start"))
            if news.epoch is not None:
                run.attempts = 0
                listener(Progress(run.trial, "epoch", news.epoch.epoch))

    def _end(self, ray: Any, reference: Any, run: _Run, waiting: deque[_Run], store: Store, listener: Listener) -> None:
        try:
            result: Result = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            result = Result(None, error=str(error))
        except ray.exceptions.RayError as error:  # the worker or its machine is gone
            run.attempts += 1
            if not run.silent_for and run.attempts < ATTEMPTS:
                waiting.appendleft(run)
                return
            reason = " ".join(str(error).split())
            lost = f"its process was lost {run.attempts} times in a row without an epoch in between: {reason}"
            result = Result(None, error=silence(run.silent_for) if run.silent_for else lost)
        take_result(run.trial, result, store)
        run.lock.release(force=True)
        listener(Progress(run.trial, "end"))

    def _end_those_that_hang(self, ray: Any, running: dict[Any, _Run]) -> None:
        for reference, run in running.items():
            silent = 0.0 if run.last_sign is None else time.monotonic() - run.last_sign
            if silent > patience_seconds(run.trial, self.grace_seconds) and not run.silent_for:
                run.silent_for = silent
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


def _task(parcel: Parcel, mailbox: Any, state_seconds: float) -> Result:
    """Run one trial in a worker process of Ray."""
    ray = _ray()

    def tell(news: News) -> None:
        try:
            ray.get(mailbox.put.remote(news))  # waits: an epoch that was told is at home
        except ray.exceptions.RayError:
            raise DriverGoneError from None

    return run_away(parcel, tell, state_seconds=state_seconds)


class Mailbox:
    """Keeps what trials tell until the driver asks; of several states of a trial only the newest matters."""

    def __init__(self) -> None:
        self._news: list[News] = []

    def put(self, news: News) -> None:
        """Leave a message."""
        if news.state is not None:
            self._news = [_without_state(n) if n.trial == news.trial else n for n in self._news]
        self._news.append(news)

    def take(self) -> list[News]:
        """Return all messages, oldest first, and forget them."""
        taken, self._news = self._news, []
        return taken


def _without_state(news: News) -> News:
    return News(news.trial, news.environment, news.epoch)


def _mailbox(ray: Any) -> Any:
    """Start the mailbox on the machine of the driver, whose loss would end the driver as well."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=here).remote()


def _ended(ray: Any, references: list[Any]) -> list[Any]:
    """Return which tasks have ended, after waiting a little for the first."""
    if not references:
        time.sleep(LOOK_SECONDS)
        return []
    first = ray.wait(references, num_returns=1, timeout=LOOK_SECONDS)[0]
    ended: list[Any] = ray.wait(references, num_returns=len(references), timeout=0)[0] if first else []
    return ended


def _take(run: _Run, store: Store) -> bool:
    """Lock a trial unless another command has it; tell whether it is still to be run."""
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
