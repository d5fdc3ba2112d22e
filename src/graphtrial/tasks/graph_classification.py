"""Graph classification."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from graphtrial.errors import GraphTrialError
from graphtrial.tasks.base import TASKS, Task


@TASKS.register("graph-classification")
class GraphClassification(Task):
    r"""Predict one of `classes` classes for each graph; cross-entropy loss, accuracy in percent.

    .. math:: \mathrm{accuracy} = \frac{100}{n} \, |\{i : \arg\max_c \hat y_{ic} = y_i\}|

    prediction: [graphs, classes]; target: [graphs] or [graphs, 1].
    """

    name = "graph-classification"
    level = "graph"
    metric = "accuracy"
    higher_is_better = True

    def __init__(self, classes: int) -> None:
        self.outputs = classes

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(prediction, self._classes(prediction, target))

    def score(self, prediction: Tensor, target: Tensor) -> float:
        examples = self.scored(target)
        classes = self._classes(prediction, target)
        for wrong in (int(classes.min()), int(classes.max())):
            if not 0 <= wrong < self.outputs:
                raise GraphTrialError(
                    f"a target is class {wrong}, but there are {self.outputs} classes, numbered from 0"
                )
        return 100.0 * int((prediction.argmax(dim=1) == classes).sum()) / examples

    def _classes(self, prediction: Tensor, target: Tensor) -> Tensor:
        return self.fitting(prediction, target, (len(prediction),)).long()
