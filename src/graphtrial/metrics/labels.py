"""F1 score of several binary labels, as on PPI."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.metrics.base import METRICS, Metric


@METRICS.register("f1-micro", title="micro F1")
class MicroF1(Metric):
    r"""F1 score over all labels of all examples, predicted where the logit is positive (Hamilton et al. 2017, PPI).

    .. math:: \frac{2 \, TP}{2 \, TP + FP + FN}

    It is 1 where no label is present or predicted.
    """

    name = "f1-micro"
    title = "micro F1"
    higher_is_better = True
    range = (0.0, 1.0)
    unit = "fraction"
    output_types = ("binary",)

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        labelled = ~torch.isnan(target)
        true, positive = target[labelled] == 1, predictions[labelled] > 0
        wrong, right = int((true != positive).sum()), int((true & positive).sum())
        return 2 * right / (2 * right + wrong) if right or wrong else 1.0
