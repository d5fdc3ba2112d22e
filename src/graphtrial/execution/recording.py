"""Record start, environment and result of trials in the store."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import DATASETS
from graphtrial.datasets.prepare import available_source, task_of
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Outcome
from graphtrial.trials.environment import environment
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec
from graphtrial.trials.weights import serialize_weights

UNKNOWN_METRIC = "unknown"
"""Metric of a trial whose data cannot be loaded, until a start that can."""


@dataclass(frozen=True)
class TrialResult:
    """Result of a trial: an outcome and the serialized weights, or an error message."""

    outcome: Outcome | None
    weights: bytes | None = None
    error: str | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> TrialResult:
        """Serialize the weights of an outcome."""
        return cls(replace(outcome, weights={}), serialize_weights(outcome.weights))

    @classmethod
    def failed(cls, error: BaseException) -> TrialResult:
        """Return the result of a failed trial: the message of a `GraphTrialError`, the traceback of any other error.

        `sys.exit()` in a model is a failure too, with any exit code.
        """
        message = str(error) if isinstance(error, GraphTrialError) else "".join(traceback.format_exception(error))
        return cls(None, error=message)


def record_start(spec: TrialSpec, store: Store, where: dict[str, Any] | None = None) -> None:
    """Record the start of a trial, its environment (by default that of this process) and its metric."""
    where = {**(environment() if where is None else where), **_source(spec.dataset)}
    try:
        task = task_of(spec.dataset)
    except GraphTrialError:  # the trial will fail with the same error
        store.start(spec, UNKNOWN_METRIC, True, where)
        return
    store.start(spec, task.metric.title, task.metric.higher_is_better, where)


def record_result(spec: TrialSpec, store: Store, result: TrialResult) -> None:
    """Record the result of a trial, unless it is finished already, and remove its checkpoint; or that it is paused."""
    if not store.trials([spec.id]):  # it ended before its start was recorded
        record_start(spec, store)
    if result.outcome is None:
        store.mark(spec.id, "failed", result.error)
        return
    if result.outcome.status == "paused":  # its checkpoint and epochs stay for the next rung
        store.add_epochs(spec.id, result.outcome.epochs)  # a kill after the last checkpoint may have lost one
        store.mark(spec.id, "paused")
        return
    store.finish(spec.id, result.outcome, result.weights)
    Checkpoint(store.checkpoint_file(spec.id)).remove()


def record_interruption(spec: TrialSpec, store: Store) -> None:
    """Mark a started trial as interrupted, also one that ended before its start was recorded."""
    if not store.trials([spec.id]):
        record_start(spec, store)
    store.mark(spec.id, "interrupted")


def _source(dataset: str) -> dict[str, str]:
    """Return the source of the data here; a trial on remote data of the same hash has the same data."""
    try:
        source = available_source(DATASETS.get(dataset)())
    except GraphTrialError:
        return {}
    return {} if source is None else {"source": source.name}
