"""What all classifications have in common."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.arguments import Count, validated
from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks.base import Task


class Classification(Task):
    r"""Predict one of `classes` classes for each example; cross-entropy loss, accuracy in percent.

    .. math:: \mathrm{accuracy} = \frac{100}{n} \, |\{i : \arg\max_c \hat y_{ic} = y_i\}|

    prediction: [examples, classes]; target: [examples] or [examples, 1].
    """

    metric = "accuracy"
    higher_is_better = True
    range = (0.0, 100.0)

    @validated
    def __init__(self, classes: Count) -> None:
        self.outputs = classes

    def chance(self) -> float | None:
        return 100.0 / self.outputs

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(prediction, self.classes(prediction, target))

    def score(self, prediction: Tensor, target: Tensor) -> float:
        examples = self.scored(target)
        return 100.0 * int((prediction.argmax(dim=1) == self.known_classes(prediction, target)).sum()) / examples

    def classes(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Return the targets as a flat list of class numbers."""
        return self.fitting(prediction, target, (len(prediction),)).long()

    def known_classes(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Return the targets as class numbers, all of which must be known."""
        classes = self.classes(prediction, target)
        for wrong in (int(classes.min()), int(classes.max())):
            if not 0 <= wrong < self.outputs:
                raise GraphTrialError(
                    f"a target is class {wrong}, but there are {self.outputs} classes, numbered from 0"
                )
        return classes


class BalancedClassification(Classification):
    r"""Classification in which each class weighs the same, however rare: weighted loss, mean recall in percent.

    .. math::
        \mathrm{loss} = \frac{\sum_i w_{y_i} \, \mathrm{CE}_i}{\sum_i w_{y_i}}, \quad
        w_c = \frac{n - n_c}{n}, \qquad
        \mathrm{score} = \frac{100}{|C|} \sum_{c \in C} \frac{|\{i : \hat y_i = y_i = c\}|}{n_c}

    over the classes C that occur among the n examples given, n_c of them of class c.
    """

    metric = "weighted accuracy"

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        classes = self.classes(prediction, target)
        counts = torch.bincount(classes, minlength=self.outputs).to(prediction.dtype)
        weight = torch.where(counts > 0, (len(classes) - counts) / len(classes), 0.0)
        if int((counts > 0).sum()) < 2:  # a single class would weigh nothing, and nothing cannot be divided by
            weight = torch.ones_like(counts)
        return F.cross_entropy(prediction, classes, weight)

    def score(self, prediction: Tensor, target: Tensor) -> float:
        self.scored(target)
        classes = self.known_classes(prediction, target)
        hits = torch.bincount(classes[prediction.argmax(dim=1) == classes], minlength=self.outputs)
        counts = torch.bincount(classes, minlength=self.outputs)
        seen = counts > 0
        return 100.0 * float((hits[seen].double() / counts[seen]).mean())
