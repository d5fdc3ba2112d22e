"""Metrics of predicted classes: accuracy, balanced accuracy, macro and binary F1."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from graphtrial.metrics.base import METRICS, Metric, labelled_columns, mean_over_columns


class ClassMetric(Metric):
    """Base class of metrics of predicted class indices.

    The predicted class is the largest logit; of binary targets it is 1 for a positive logit, column by column.
    """

    higher_is_better = True
    output_types = ("class", "binary")

    @abstractmethod
    def compare(self, predicted: Tensor, target: Tensor) -> float:
        """Return the metric of class indices [examples]."""

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        if target.dim() == 1:
            return self.compare(predictions.argmax(dim=1), target)
        columns = [((p > 0).long(), y.long()) for p, y in labelled_columns(predictions, target)]
        return mean_over_columns([self.compare(*column) for column in columns], self.title)


@METRICS.register("accuracy", title="accuracy")
class Accuracy(ClassMetric):
    r"""Accuracy in percent.

    .. math:: \frac{100}{n} \, |\{i : \hat y_i = y_i\}|
    """

    name = "accuracy"
    title = "accuracy"
    range = (0.0, 100.0)
    unit = "%"

    def compare(self, predicted: Tensor, target: Tensor) -> float:
        return 100.0 * int((predicted == target).sum()) / len(target)

    def chance(self, classes: int) -> float | None:
        return 100.0 / classes


@METRICS.register("balanced-accuracy", title="weighted accuracy")
class BalancedAccuracy(ClassMetric):
    r"""Balanced accuracy in percent: recall averaged over classes, printed as weighted accuracy (arXiv:2003.00982).

    .. math:: \frac{100}{|C|} \sum_{c \in C} \frac{|\{i : \hat y_i = y_i = c\}|}{|\{i : y_i = c\}|}

    over the classes C that occur in the target.
    """

    name = "balanced-accuracy"
    title = "weighted accuracy"
    range = (0.0, 100.0)
    unit = "%"

    def compare(self, predicted: Tensor, target: Tensor) -> float:
        counts = torch.bincount(target)
        hits = torch.bincount(target[predicted == target], minlength=len(counts))
        seen = counts > 0
        return 100.0 * float((hits[seen].double() / counts[seen]).mean())

    def chance(self, classes: int) -> float | None:
        return 100.0 / classes


@METRICS.register("f1-macro", title="macro F1")
class MacroF1(ClassMetric):
    r"""F1 score averaged over the classes that occur in the target or in the predictions.

    .. math:: \frac{1}{|C|} \sum_{c \in C} \frac{2 \, TP_c}{2 \, TP_c + FP_c + FN_c}
    """

    name = "f1-macro"
    title = "macro F1"
    range = (0.0, 1.0)
    unit = "fraction"

    def compare(self, predicted: Tensor, target: Tensor) -> float:
        classes = int(torch.maximum(predicted.max(), target.max())) + 1
        both = torch.bincount(target, minlength=classes) + torch.bincount(predicted, minlength=classes)
        hits = torch.bincount(target[predicted == target], minlength=classes)
        seen = both > 0
        return float((2 * hits[seen].double() / both[seen]).mean())


@METRICS.register("f1-binary", title="F1")
class BinaryF1(ClassMetric):
    r"""F1 score of class 1.

    .. math:: \frac{2 \, TP}{2 \, TP + FP + FN}

    It is 1 where class 1 is neither present nor predicted.
    """

    name = "f1-binary"
    title = "F1"
    range = (0.0, 1.0)
    unit = "fraction"
    two_classes = True

    def compare(self, predicted: Tensor, target: Tensor) -> float:
        true, positive = target == 1, predicted == 1
        wrong = int((true != positive).sum())
        right = int((true & positive).sum())
        return 2 * right / (2 * right + wrong) if right or wrong else 1.0
