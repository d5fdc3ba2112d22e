"""Areas under curves: ROC-AUC and average precision."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics.base import METRICS, Metric, labelled_columns


class CurveMetric(Metric):
    """Base class of metrics of the ranking of positives and negatives.

    Columns without a positive or without a negative are left out, as in the Open Graph Benchmark; if that leaves none,
    the metric is undefined. Of two classes the score is the difference of their logits.
    """

    higher_is_better = True
    range = (0.0, 1.0)
    unit = "fraction"
    output_types = ("binary", "pair", "class")
    two_classes = True

    @abstractmethod
    def area(self, positives: Tensor, negatives: Tensor) -> float:
        """Return the area from the number of positives and negatives at each distinct score, in descending order."""

    def defined_columns(self, target: Tensor) -> Tensor:
        return (target == 1).any(dim=0) & (target == 0).any(dim=0)

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        if target.dim() == 1:
            predictions, target = predictions[:, 1:] - predictions[:, :1], target[:, None].to(predictions.dtype)
        areas = [
            self.area(*_counts_at_scores(scores, y == 1))
            for scores, y in labelled_columns(predictions, target)
            if bool((y == 1).any()) and not bool((y == 1).all())
        ]
        if not areas:
            raise GraphTrialError(f"{self.title} needs positive and negative examples")
        return sum(areas) / len(areas)


@METRICS.register("roc-auc", title="ROC-AUC")
class ROCAUC(CurveMetric):
    r"""Area under the ROC curve, averaged over target columns.

    .. math:: P(s_+ > s_-) + \tfrac{1}{2} P(s_+ = s_-)
    """

    name = "roc-auc"
    title = "ROC-AUC"

    def area(self, positives: Tensor, negatives: Tensor) -> float:
        above = negatives.cumsum(0) - negatives
        below = negatives.sum() - above - negatives
        return float((positives * (below + negatives / 2)).sum() / (positives.sum() * negatives.sum()))

    def chance(self, classes: int) -> float | None:
        return 0.5


@METRICS.register("average-precision", title="AP")
class AveragePrecision(CurveMetric):
    r"""Average precision, averaged over target columns.

    .. math:: \sum_n (R_n - R_{n-1}) \, P_n

    with precision P_n and recall R_n at the n-th highest distinct score.
    """

    name = "average-precision"
    title = "AP"

    def area(self, positives: Tensor, negatives: Tensor) -> float:
        true_positives = positives.cumsum(0)
        precision = true_positives / (true_positives + negatives.cumsum(0))
        return float((positives / positives.sum() * precision).sum())


def _counts_at_scores(scores: Tensor, positive: Tensor) -> tuple[Tensor, Tensor]:
    """Return the number of positives and of negatives at each distinct score, the highest score first."""
    distinct, index = scores.unique(return_inverse=True)
    positives, negatives = (
        torch.bincount(index[mask], minlength=len(distinct)).double().flip(0) for mask in (positive, ~positive)
    )
    return positives, negatives
