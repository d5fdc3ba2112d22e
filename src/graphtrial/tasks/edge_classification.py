"""Edge classification."""

from __future__ import annotations

from torch import Tensor

from graphtrial.tasks.base import TASKS
from graphtrial.tasks.classification import Classification


@TASKS.register("edge-classification")
class EdgeClassification(Classification):
    r"""Tell the edges of class 1 from the others; cross-entropy loss, F1 score of class 1 over all edges.

    .. math:: F_1 = \frac{2 \, TP}{2 \, TP + FP + FN}

    prediction: [edges, 2]; target: [edges].
    """

    name = "edge-classification"
    level = "edge"
    metric = "F1"
    range = (0.0, 1.0)

    def __init__(self) -> None:
        super().__init__(classes=2)

    def chance(self) -> float | None:
        return None  # depends on how many edges are of class 1

    def score(self, prediction: Tensor, target: Tensor) -> float:
        self.scored(target)
        truth = self.known_classes(prediction, target) == 1
        found = prediction.argmax(dim=1) == 1
        wrong = int((truth != found).sum())
        right = int((truth & found).sum())
        return 2 * right / (2 * right + wrong) if right or wrong else 1.0
