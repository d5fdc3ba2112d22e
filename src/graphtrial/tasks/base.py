"""The contract of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from torch import Tensor

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.graphset import Level
from graphtrial.registry import Registry

TASKS: Registry[type[Task]] = Registry("task", "graphtrial.tasks")


class Task(ABC):
    """Loss, metric and direction of one kind of target.

    The loss is a mean over examples, the score is computed once over all examples of a split, so neither depends on how
    the examples were batched.
    """

    name: ClassVar[str]
    level: ClassVar[Level]
    metric: ClassVar[str]
    higher_is_better: ClassVar[bool]

    outputs: int
    """The numbers a model returns per example."""

    def target(self, batch: GraphBatch) -> Tensor:
        """Return the targets of a batch."""
        if batch.y is None:
            raise GraphTrialError("these graphs have no target column 'y'")
        return batch.y

    @abstractmethod
    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Return the mean loss over examples."""

    @abstractmethod
    def score(self, prediction: Tensor, target: Tensor) -> float:
        """Return the metric over all examples given."""
