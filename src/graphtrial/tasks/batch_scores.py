"""Losses and scores averaged over batches, as some released training loops have them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.tasks.base import Task


class BatchScores(Task):
    """Another task, with the mean of the losses and of the scores of batches in place of those over all examples.

    A smaller last batch weighs as much as the others, and class weights are those of each batch. With `softmax_rows`
    the classes of a batch are read off a softmax over its rows instead of over classes, so that the class of a node
    depends on the other nodes: the accuracy of DGN (arXiv:2010.02863) on PATTERN.

    The target has one more column, which is 1 in the first row of each batch, so that targets of several batches can be
    concatenated. predictions: as those of the task; target: [examples, targets + 1].
    """

    def __init__(self, task: Task, *, softmax_rows: bool = False) -> None:
        if softmax_rows and (task.level, task.output_type) != ("node", "class"):
            raise GraphTrialError(
                f"scoring=batches-softmax-rows classifies nodes, it is not for the task {task.name}: use batches or "
                "examples"
            )
        self.task, self.softmax_rows = task, softmax_rows
        self.outputs, self.metric, self.extra_metrics = task.outputs, task.metric, task.extra_metrics

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the task."""
        return self.task.name

    @property
    def level(self) -> str:  # type: ignore[override]
        """That of the task."""
        return self.task.level

    @property
    def output_type(self) -> str:  # type: ignore[override]
        """That of the task."""
        return self.task.output_type

    @property
    def definitions(self) -> tuple[type, ...]:
        return type(self), *self.task.definitions

    def target(self, batch: GraphBatch) -> Tensor:
        own = self.task.target(batch)
        first = torch.arange(len(own), device=own.device) == 0
        return torch.cat([own.reshape(len(own), -1), first.to(own.dtype).unsqueeze(1)], dim=1)

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        return torch.stack([self.task.loss(*batch) for batch in _batches(predictions, target)]).mean()

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        return self.task.matched(predictions, target[:, :-1])

    def score(self, predictions: Tensor, target: Tensor) -> float:
        self.require_examples(target)
        scores = [self.task.score(self._read(one), own) for one, own in _batches(predictions, target)]
        return sum(scores) / len(scores)

    def extra_scores(self, predictions: Tensor, target: Tensor) -> dict[str, float | list[float]]:
        return self.task.extra_scores(predictions, target[:, :-1])

    def chance(self) -> float | None:
        return None if self.softmax_rows else self.task.chance()

    def _read(self, predictions: Tensor) -> Tensor:
        return predictions.softmax(dim=0) if self.softmax_rows else predictions


def _batches(predictions: Tensor, target: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the predictions and the targets of each batch."""
    starts = torch.nonzero(target[:, -1] == 1).flatten().tolist()
    sizes = [end - start for start, end in zip(starts, [*starts[1:], len(target)], strict=True)]
    yield from zip(predictions.split(sizes), target[:, :-1].split(sizes), strict=True)
