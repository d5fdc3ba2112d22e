"""Base class and registry of tasks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.graphs import GraphBatch
from graphtrial.metrics import Metric, OutputType, make_metric

TaskLevel = Literal["graph", "node", "edge", "pair", "node and graph"]
"""Level of the targets; a model returns one row of predictions for each element of that level."""

TASKS: Registry[type[Task]] = Registry(
    "task",
    "graphtrial.tasks",
    fits=lambda thing: is_subclass(thing, Task),
    wanted="a subclass of graphtrial.Task",
    declared=("name", "level", "output_type"),
)


class Task(ABC):
    """A level, an output type and a metric; the loss follows from the output type.

    The loss is a mean over examples, the score is computed once over all examples of a split, so neither depends on how
    the examples were batched. `extra_metrics` are computed on the test set alone.
    """

    name: ClassVar[str]
    level: ClassVar[TaskLevel]
    output_type: ClassVar[OutputType]

    outputs: int
    """Numbers that a model returns per example."""
    metric: Metric
    extra_metrics: tuple[Metric, ...]

    def __init__(self, outputs: int, metric: str, extra_metrics: Sequence[str] = ()) -> None:
        metrics = tuple(map(make_metric, (metric, *extra_metrics)))
        for each in metrics:
            each.check_outputs(self.output_type, outputs, self.name)
        self.outputs = outputs
        self.metric, self.extra_metrics = metrics[0], metrics[1:]

    @property
    def definitions(self) -> tuple[type, ...]:
        """The classes that define the task: its own and those of its metrics."""
        return type(self), type(self.metric), *(type(metric) for metric in self.extra_metrics)

    def target(self, batch: GraphBatch) -> Tensor:
        """Return the targets of the examples of a batch."""
        if batch.y is None:
            raise GraphTrialError("these graphs have no target column 'y'")
        return batch.select_targets(batch.y)

    def evaluation_batch(self, batch: GraphBatch, ids: npt.NDArray[np.int64]) -> GraphBatch:
        """Return the batch of the graphs `ids` of pairs, as predictions are scored on it; while training it is not."""
        return batch

    @abstractmethod
    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        """Return the mean loss over examples."""

    @abstractmethod
    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        """Return the target in the shape and type that the metrics of this output type take."""

    def score(self, predictions: Tensor, target: Tensor) -> float:
        """Return the metric over all examples."""
        self.require_examples(target)
        return self.metric.compute(predictions, self.matched(predictions, target))

    def extra_scores(self, predictions: Tensor, target: Tensor) -> dict[str, float | list[float]]:
        """Return the extra metrics over all examples, by title."""
        self.require_examples(target)
        matched = self.matched(predictions, target)
        return {metric.title: metric.compute(predictions, matched) for metric in self.extra_metrics}

    def single_logit(self) -> Task:
        """Return the task of predicting the same two classes by one logit, that of class 1."""
        raise GraphTrialError(f"the task {self.name} has no two classes that a single logit could predict")

    def chance(self) -> float | None:
        """Return the score of a uniform guess, if it follows from the task alone."""
        return None

    def match_target(self, predictions: Tensor, target: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return the target reshaped to `shape`, adding or dropping dimensions of size 1; else raise an error."""
        if (
            predictions.shape[1:] != (self.outputs,)
            or len(target) != len(predictions)
            or target.numel() != math.prod(shape)
        ):
            raise GraphTrialError(
                f"there are {len(predictions)} predictions of {math.prod(predictions.shape[1:])} numbers, "
                f"but targets of shape {tuple(target.shape)} for a task with {self.outputs} outputs"
            )
        return target.reshape(shape)

    def require_examples(self, target: Tensor) -> None:
        """Raise an error if there is no example."""
        if not len(target):
            raise GraphTrialError("there are no examples to score: this split is empty")


def masked_loss(loss: Callable[..., Tensor], predictions: Tensor, target: Tensor) -> Tensor:
    """Return a mean loss over the entries whose label is not missing (NaN); 0 if all of them are."""
    missing = torch.isnan(target)
    if target.device.type != "cpu":
        losses = loss(predictions, torch.where(missing, 0.0, target), reduction="none")
        return mean_where(losses, ~missing)
    if not bool(missing.any()):
        return loss(predictions, target)
    if bool(missing.all()):
        return (predictions * 0.0).sum()
    return loss(predictions[~missing], target[~missing])


def mean_where(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of the values in a mask, 0 if it is empty, without waiting for the device that has them."""
    return torch.where(mask, values, 0.0).sum() / mask.sum().clamp(min=1)
