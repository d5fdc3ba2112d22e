"""Graph classification."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from graphtrial.tasks.base import TASKS, Task


@TASKS.register("graph-classification")
class GraphClassification(Task):
    r"""Predict one of `classes` classes for each graph; cross-entropy loss, accuracy in percent.

    .. math:: \mathrm{accuracy} = \frac{100}{n} \, |\{i : \arg\max_c \hat y_{ic} = y_i\}|

    prediction: [graphs, classes]; target: [graphs].
    """

    name = "graph-classification"
    level = "graph"
    metric = "accuracy"
    higher_is_better = True

    def __init__(self, classes: int) -> None:
        self.outputs = classes

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(prediction, target)

    def score(self, prediction: Tensor, target: Tensor) -> float:
        return 100.0 * int((prediction.argmax(dim=1) == target).sum()) / len(target)
