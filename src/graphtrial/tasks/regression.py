"""Regression of graphs and of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.arguments import NonNegativeFloat, PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.metrics.errors import MAE, RMSE, LogMAE
from graphtrial.tasks.base import TASKS, Task, masked_loss

LOSSES = {"l1": F.l1_loss, "mse": F.mse_loss}


class Regression(Task):
    r"""Predict `targets` real numbers; the loss is the mean absolute error, or the mean squared error for `loss="mse"`.

    .. math:: \mathrm{loss} = \frac{1}{n} \sum_i |\hat y_i - y_i|

    Missing labels are NaN in the target; they are masked in loss and metric. With several targets the error of each is
    an extra score, and so is `log MAE`. Where targets are standardised, `std` is the standard deviation of each in its
    own unit, and the error in that unit is an extra score as well.

    predictions: [examples, targets]; target: [examples] or [examples, targets].
    """

    output_type = "real"

    @validated
    def __init__(
        self,
        targets: PositiveInt = 1,
        metric: str = "mae",
        std: Sequence[NonNegativeFloat] = (),
        loss: Literal["l1", "mse"] = "l1",
        extra_metrics: Sequence[str] = (),
    ) -> None:
        if std and len(std) != targets:
            raise GraphTrialError(f"{targets} targets have {targets} standard deviations, not {len(std)}")
        super().__init__(targets, metric, extra_metrics)
        if targets > 1 and isinstance(self.metric, MAE):
            self.extra_metrics += (LogMAE(),)
        self.std = tuple(std)
        self._loss = LOSSES[loss]

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        target = self.match_target(predictions, target, predictions.shape).to(predictions.dtype)
        return masked_loss(self._loss, predictions, target)

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        return self.match_target(predictions, target, predictions.shape).double()

    def extra_scores(self, predictions: Tensor, target: Tensor) -> dict[str, float | list[float]]:
        scores = super().extra_scores(predictions, target)
        if self.outputs == 1 or not isinstance(self.metric, MAE | RMSE):
            return scores
        errors, each = self.metric.columns(predictions, self.matched(predictions, target)), "of each target"
        scores[f"{self.metric.title} {each}"] = errors.tolist()
        if self.std:
            scores[f"{self.metric.title} {each} in its own unit"] = (errors * errors.new_tensor(self.std)).tolist()
        return scores


@TASKS.register("graph-regression")
class GraphRegression(Regression):
    """Predict real numbers for each graph."""

    name = "graph-regression"
    level = "graph"


@TASKS.register("node-regression")
class NodeRegression(Regression):
    """Predict real numbers for each node."""

    name = "node-regression"
    level = "node"


@TASKS.register("edge-regression")
class EdgeRegression(Regression):
    """Predict real numbers for each edge."""

    name = "edge-regression"
    level = "edge"
