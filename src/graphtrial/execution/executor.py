"""Many trials at once: what an executor is, which there are, and the one call that runs what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from graphtrial.core.errors import UnknownNameError, did_you_mean
from graphtrial.core.spec import Component
from graphtrial.execution.processes import Processes
from graphtrial.execution.progress import Listener, Progress
from graphtrial.execution.ray_cluster import RayCluster
from graphtrial.execution.vectorized import Together
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec


class Executor(Protocol):
    """A way to run trials that have no result yet; its constructor arguments are its configuration.

    Every result goes to the one store. A trial that is lost with its process or its machine continues from its last
    epoch to the same bits; one that is interrupted does so when it is asked for again.
    """

    def run(self, trials: Sequence[TrialSpec], store: Store, listener: Listener) -> None:
        """Run these trials and store their results; return when every one has ended."""


EXECUTORS: dict[str, Callable[..., Executor]] = {"processes": Processes, "ray": RayCluster, "together": Together}


def make_executor(text: str) -> Executor:
    """Make an executor of a text such as `processes:4`, `together`, `ray` or `ray:10.0.0.1:6379,cpus=2,memory_gb=4`."""
    component = Component.parse(text, _kind)
    return _kind(component.name)(**component.arguments)


def run_trials(
    trials: Sequence[TrialSpec],
    store: Store,
    *,
    workers: int | None = None,
    listener: Listener = lambda progress: None,
    executor: Executor | None = None,
) -> None:
    """Run every trial that has no result yet, and store the results.

    By default they run in processes of this machine, `workers` at a time (all cores by default, with 0 in this process
    one after the other). Ctrl-C ends the running ones, marks them interrupted, and passes on; they go on from their
    last epoch when asked for again.
    """
    finished = {record.id for record in store.trials() if record.is_finished}
    missing = [trial for trial in {t.id: t for t in trials}.values() if trial.id not in finished]
    if missing:
        (executor or Processes(workers)).run(missing, store, listener)


def _kind(name: str) -> Callable[..., Executor]:
    if name not in EXECUTORS:
        raise UnknownNameError(
            f"no executor called '{name}'.{did_you_mean(name, EXECUTORS)} Use {', '.join(EXECUTORS)}."
        )
    return EXECUTORS[name]


__all__ = ["EXECUTORS", "Executor", "Listener", "Progress", "make_executor", "run_trials"]
