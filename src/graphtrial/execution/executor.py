"""Executors by name, and the runs of a study that they carry out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from graphtrial.core.errors import UnknownNameError, did_you_mean
from graphtrial.core.hardware.compute import AUTOMATIC, Compute
from graphtrial.core.spec import Component
from graphtrial.execution.compilation import background_compilation
from graphtrial.execution.processes import Processes
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.ray_cluster import RayCluster
from graphtrial.execution.vectorized import Vectorized
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.trial import TrialSpec


class Executor(Protocol):
    """Interface of executors; constructor arguments are the configuration.

    All results go to one store. A trial lost with its process or machine resumes bit-exactly from its last checkpoint;
    an interrupted one does so when it is run again.
    """

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener, compute: Compute) -> None:
        """Run these trials and record their results; return when every one has ended."""


EXECUTORS: dict[str, Callable[..., Executor]] = {"processes": Processes, "ray": RayCluster, "vectorized": Vectorized}


def make_executor(text: str) -> Executor:
    """Build an executor from text: `processes:4`, `vectorized`, `ray` or `ray:10.0.0.1:6379,cpus=2,memory_gb=4`."""
    component = Component.parse(text, _executor)
    return _executor(component.name)(**component.arguments)


def session(executor: Executor | None) -> AbstractContextManager[None]:
    """Return a context in which several runs of an executor share its connection to a cluster, if it has one."""
    return executor.session() if isinstance(executor, RayCluster) else nullcontext()


def run_trials(
    trials: Sequence[TrialSpec],
    store: Store,
    *,
    workers: int | None = None,
    listener: Listener = lambda progress: None,
    executor: Executor | None = None,
    compute: Compute = AUTOMATIC,
) -> None:
    """Run every trial that has no result yet, and record the results.

    By default they run in processes of this machine, `workers` at a time (all cores by default, with 0 sequentially
    in this process), on a GPU where there is one; `compute` sets device and threads. Ctrl-C ends the running ones,
    marks them interrupted, and is raised again; they resume from their last epoch when run again.
    """
    finished = {record.id for record in store.trials() if record.is_finished}
    missing = [trial for trial in {t.id: t for t in trials}.values() if trial.id not in finished]
    if missing:
        with store.kept_open(), background_compilation():
            (executor or Processes(workers)).run(missing, store, listener, compute)


@dataclass(frozen=True)
class StudyRun:
    """The trials of a study, in their order, and the store of their results."""

    trials: Sequence[TrialSpec]
    store: Store

    def run(
        self,
        *,
        workers: int | None = None,
        listener: Listener = lambda progress: None,
        executor: Executor | None = None,
        compute: Compute = AUTOMATIC,
    ) -> list[TrialRecord]:
        """Run the trials without a result and return the records of all."""
        run_trials(self.trials, self.store, workers=workers, listener=listener, executor=executor, compute=compute)
        return self.records()

    def records(self) -> list[TrialRecord]:
        """Return the records of the trials that were started, in the order of the study."""
        order = {trial.id: position for position, trial in enumerate(self.trials)}
        return sorted(self.store.trials(order), key=lambda record: order[record.id])

    @property
    def finished(self) -> int:
        """The number of trials with a result."""
        return sum(record.is_finished for record in self.records())


def _executor(name: str) -> Callable[..., Executor]:
    if name not in EXECUTORS:
        raise UnknownNameError(
            f"no executor called '{name}'.{did_you_mean(name, EXECUTORS)} Use {', '.join(EXECUTORS)}."
        )
    return EXECUTORS[name]


__all__ = ["EXECUTORS", "Executor", "Listener", "Progress", "StudyRun", "make_executor", "run_trials"]
