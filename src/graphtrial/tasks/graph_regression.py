"""Graph regression."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.arguments import Count, NotNegative, validated
from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks.base import TASKS, Task


@TASKS.register("graph-regression")
class GraphRegression(Task):
    r"""Predict `targets` real numbers for each graph.

    .. math:: \mathrm{loss} = \mathrm{MAE} = \frac{1}{n} \sum_i |\hat y_i - y_i|

    With several targets the error of each is kept, and the mean of their natural logarithms, `log MAE`. Where targets
    are standardised, `spread` is the standard deviation of each in its own unit, and the error in that is kept as well.
    prediction: [graphs, targets]; target: [graphs] or [graphs, targets].
    """

    name = "graph-regression"
    level = "graph"
    metric = "MAE"
    higher_is_better = False
    range = (0.0, math.inf)

    @validated
    def __init__(self, targets: Count = 1, spread: Sequence[NotNegative] = ()) -> None:
        if spread and len(spread) != targets:
            raise GraphTrialError(f"{targets} targets have as many deviations, not {len(spread)}")
        self.outputs = targets
        self.spread = tuple(spread)

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(prediction, self.fitting(prediction, target, prediction.shape).to(prediction.dtype))

    def score(self, prediction: Tensor, target: Tensor) -> float:
        self.scored(target)
        return float((prediction.double() - self.fitting(prediction, target, prediction.shape).double()).abs().mean())

    def further(self, prediction: Tensor, target: Tensor) -> dict[str, float | list[float]]:
        if self.outputs == 1:
            return {}
        errors = (prediction.double() - self.fitting(prediction, target, prediction.shape).double()).abs().mean(dim=0)
        logarithms = errors.clamp_min(sys.float_info.min).log()  # an error of 0 has no logarithm
        found: dict[str, float | list[float]] = {
            "log MAE": float(logarithms.mean()),
            "MAE of each target": errors.tolist(),
        }
        if self.spread:
            found["MAE of each target in its own unit"] = (errors * errors.new_tensor(self.spread)).tolist()
        return found
