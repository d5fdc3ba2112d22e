"""Link prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.signatures import validated
from graphtrial.metrics import OutputType
from graphtrial.tasks.base import TASKS, Task, mean_where


@TASKS.register("link-prediction")
class LinkPrediction(Task):
    r"""Score pairs of nodes, links above the others; binary cross-entropy, positives and negatives of equal weight.

    .. math:: \mathrm{loss} = \mathrm{mean}_{+} - \log \sigma(s) + \mathrm{mean}_{-} - \log (1 - \sigma(s))

    logits: [pairs, 1]; target: [pairs], 1 for a link.
    """

    name = "link-prediction"
    level = "pair"
    output_type: ClassVar[OutputType] = "pair"

    @validated
    def __init__(self, metric: str = "hits@50", extra_metrics: Sequence[str] = ()) -> None:
        super().__init__(1, metric, extra_metrics)

    def chance(self) -> float | None:
        return self.metric.chance(2)

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        positive = self.match_target(predictions, target, (len(predictions),)) == 1
        logits = predictions.reshape(len(predictions))
        losses = F.binary_cross_entropy_with_logits(logits, positive.to(logits.dtype), reduction="none")
        if losses.device.type != "cpu":
            return mean_where(losses, positive) + mean_where(losses, ~positive)
        means = [losses[mask].mean() for mask in (positive, ~positive) if bool(mask.any())]
        return torch.stack(means).sum()

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        return (self.match_target(predictions, target, predictions.shape) == 1).to(predictions.dtype)
