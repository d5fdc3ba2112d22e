"""Loss and score of a model over all examples of a part of the split."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.tasks import Task
from graphtrial.training.precision import autocast
from graphtrial.training.rules import Precision

if TYPE_CHECKING:
    from graphtrial.tape.runner import TapedModel


@torch.no_grad()
def evaluate(
    model: nn.Module | TapedModel, task: Task, batches: Iterable[GraphBatch], precision: Precision = 32
) -> tuple[float, float]:
    """Return the loss and the score over all examples, neither of which depends on how they are batched."""
    logits, target = predict(model, task, batches, precision)
    return float(task.loss(logits, target)), task.score(logits, target)


@torch.no_grad()
def predict(
    model: nn.Module | TapedModel, task: Task, batches: Iterable[GraphBatch], precision: Precision = 32
) -> tuple[Tensor, Tensor]:
    """Return the logits and the targets of all examples, in the memory of the host, where metrics are computed."""
    model.eval()
    pairs = []
    for batch in batches:
        with autocast(precision, batch.device):
            logits = batch.select_targets(model(batch))
        pairs.append((logits.float() if logits.dtype == torch.bfloat16 else logits, task.target(batch)))
    logits, target = (torch.cat(column).cpu() for column in zip(*pairs, strict=True))
    return logits, target
