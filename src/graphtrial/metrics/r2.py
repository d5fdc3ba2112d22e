"""Coefficient of determination."""

from __future__ import annotations

import math

from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics.base import METRICS, Metric, labelled_columns, mean_over_columns


@METRICS.register("r2", title="R2")
class R2(Metric):
    r"""Coefficient of determination, averaged over targets.

    .. math:: R^2 = 1 - \frac{\sum_i (y_i - \hat y_i)^2}{\sum_i (y_i - \bar y)^2}

    For a constant target it is 1 if every prediction is exact and 0 otherwise, as in scikit-learn.
    """

    name = "r2"
    title = "R2"
    higher_is_better = True
    range = (-math.inf, 1.0)
    unit = "fraction"
    output_types = ("real",)

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        columns = labelled_columns(predictions.double(), target.double())
        return mean_over_columns([self._column(p, y) for p, y in columns], self.title)

    def _column(self, predictions: Tensor, target: Tensor) -> float:
        if len(target) < 2:
            raise GraphTrialError("R2 needs at least two labelled examples of each target")
        residual = float((target - predictions).square().sum())
        total = float((target - target.mean()).square().sum())
        if total == 0:
            return 1.0 if residual == 0 else 0.0
        return 1.0 - residual / total
