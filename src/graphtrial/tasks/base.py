"""The contract of a task."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.graphs import GraphBatch

TaskLevel = Literal["graph", "node", "edge", "pair", "node and graph"]
"""What a question is about; a model gives one row of answers for each."""

TASKS: Registry[type[Task]] = Registry(
    "task",
    "graphtrial.tasks",
    fits=lambda thing: is_subclass(thing, Task),
    wanted="a subclass of graphtrial.Task",
    declared=("name", "level", "metric", "higher_is_better"),
)


class Task(ABC):
    """Loss, metric and direction of one kind of target.

    The loss is a mean over examples, the score is computed once over all examples of a split, so neither depends on how
    the examples were batched.
    """

    name: ClassVar[str]
    level: ClassVar[TaskLevel]
    metric: str
    higher_is_better: ClassVar[bool]
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    """The lowest and highest value that the metric can take."""

    outputs: int
    """The numbers a model returns per example."""

    def target(self, batch: GraphBatch) -> Tensor:
        """Return the targets of what a batch asks about."""
        if batch.y is None:
            raise GraphTrialError("these graphs have no target column 'y'")
        return batch.asked(batch.y)

    @abstractmethod
    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Return the mean loss over examples."""

    @abstractmethod
    def score(self, prediction: Tensor, target: Tensor) -> float:
        """Return the metric over all examples given."""

    def chance(self) -> float | None:
        """Return the score of guessing, where the task alone decides it; none by default."""
        return None

    def further(self, prediction: Tensor, target: Tensor) -> dict[str, float | list[float]]:
        """Return what else is worth knowing of the test part, by name; nothing by default."""
        return {}

    def fitting(self, prediction: Tensor, target: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return the target in this shape, which may drop or add dimensions of 1; anything else does not fit."""
        if (
            prediction.shape[1:] != (self.outputs,)
            or len(target) != len(prediction)
            or target.numel() != math.prod(shape)
        ):
            raise GraphTrialError(
                f"there are {len(prediction)} predictions of {math.prod(prediction.shape[1:])} numbers, "
                f"but targets of shape {tuple(target.shape)} for a task with {self.outputs} outputs"
            )
        return target.reshape(shape)

    def scored(self, target: Tensor) -> int:
        """Return the number of examples, of which there must be one at least."""
        if not len(target):
            raise GraphTrialError("there are no examples to score: this part of the split is empty")
        return len(target)


def metric_range(metric: str) -> tuple[float, float]:
    """Return the lowest and highest value of a metric, such as 0 and 100 for Hits@50; unbounded where it is unknown."""
    for task in TASKS.contents().things.values():
        if metric.partition("@")[0] == getattr(task, "metric", "").partition("@")[0]:
            return task.range
    return -math.inf, math.inf
