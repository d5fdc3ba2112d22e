"""Classification of graphs, nodes and edges: one of several classes each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.tasks.base import TASKS, Task
from graphtrial.tasks.binary_classification import (
    BinaryClassification,
    GraphBinaryClassification,
    NodeBinaryClassification,
)


class Classification(Task):
    r"""Predict one of `classes` classes; cross-entropy loss.

    With `class_weighted` the loss weighs classes by the fraction of examples outside of them, as on PATTERN and CLUSTER
    (arXiv:2003.00982):

    .. math:: \mathrm{loss} = \frac{\sum_i w_{y_i} \, \mathrm{CE}_i}{\sum_i w_{y_i}}, \quad w_c = \frac{n - n_c}{n}

    logits: [examples, classes]; target: [examples] or [examples, 1].
    """

    output_type = "class"
    binary: ClassVar[type[BinaryClassification] | None] = None
    """The task of the same level with binary labels."""

    @validated
    def __init__(
        self,
        classes: PositiveInt,
        metric: str = "accuracy",
        class_weighted: bool = False,
        extra_metrics: Sequence[str] = (),
    ) -> None:
        super().__init__(classes, metric, extra_metrics)
        self.class_weighted = class_weighted

    def single_logit(self) -> Task:
        if self.binary is None or self.outputs != 2:
            return super().single_logit()
        extra = [metric.name for metric in self.extra_metrics]
        return self.binary(1, self.metric.name, extra, class_weighted=self.class_weighted)

    def chance(self) -> float | None:
        return self.metric.chance(self.outputs)

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        classes = self.classes(predictions, target)
        return F.cross_entropy(predictions, classes, self._weights(predictions, classes))

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        classes = self.classes(predictions, target)
        for wrong in (int(classes.min()), int(classes.max())):
            if not 0 <= wrong < self.outputs:
                raise GraphTrialError(
                    f"a target is class {wrong}, but there are {self.outputs} classes, numbered from 0"
                )
        return classes

    def classes(self, predictions: Tensor, target: Tensor) -> Tensor:
        """Return the target as class indices [examples]."""
        return self.match_target(predictions, target, (len(predictions),)).long()

    def _weights(self, predictions: Tensor, classes: Tensor) -> Tensor | None:
        """Return the weight of each class in the loss, none for equal weights."""
        if not self.class_weighted:
            return None
        if classes.device.type != "cpu":
            numbers = torch.arange(self.outputs, device=classes.device)
            counts = (classes.unsqueeze(1) == numbers).sum(dim=0).to(predictions.dtype)
            weights = torch.where(counts > 0, (len(classes) - counts) / len(classes), 0.0)
            return torch.where((counts > 0).sum() < 2, torch.ones_like(weights), weights)
        counts = torch.bincount(classes, minlength=self.outputs).to(predictions.dtype)
        if int((counts > 0).sum()) < 2:  # a single class would have weight 0, and the loss would be 0 / 0
            return torch.ones_like(counts)
        return torch.where(counts > 0, (len(classes) - counts) / len(classes), 0.0)


@TASKS.register("graph-classification")
class GraphClassification(Classification):
    """Predict the class of each graph."""

    name = "graph-classification"
    level = "graph"
    binary = GraphBinaryClassification


@TASKS.register("node-classification")
class NodeClassification(Classification):
    """Predict the class of each node."""

    name = "node-classification"
    level = "node"
    binary = NodeBinaryClassification


@TASKS.register("edge-classification")
class EdgeClassification(Classification):
    """Predict the class of each edge, by default one of two, scored by the F1 of class 1."""

    name = "edge-classification"
    level = "edge"

    @validated
    def __init__(
        self,
        classes: PositiveInt = 2,
        metric: str = "f1-binary",
        class_weighted: bool = False,
        extra_metrics: Sequence[str] = (),
    ) -> None:
        super().__init__(classes, metric, class_weighted, extra_metrics)
