"""Binary and multi-label classification of graphs, nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.tasks.base import TASKS, Task, masked_loss, mean_where


class BinaryClassification(Task):
    r"""Predict `targets` binary labels, each on its own; binary cross-entropy over the labels that are not missing.

    .. math:: \mathrm{loss} = -\frac{1}{|L|} \sum_{(i, t) \in L} y_{it} \log \sigma(z_{it}) + (1 - y_{it}) \log (1 -
        \sigma(z_{it}))

    Missing labels are NaN in the target, as in the molecule sets of the Open Graph Benchmark (arXiv:2005.00687); loss
    and metric leave them out. One target is plain binary classification, several are multi-task or multi-label.
    With `class_weighted` a label's term is multiplied by the fraction of labels of its target that differ from it, and
    the sum still divided by |L|, as GraphGPS (arXiv:2205.12454) does on PATTERN.

    logits: [examples, targets]; target: [examples] or [examples, targets] of 0, 1 and NaN.
    """

    output_type = "binary"

    @validated
    def __init__(
        self,
        targets: PositiveInt = 1,
        metric: str = "roc-auc",
        extra_metrics: Sequence[str] = (),
        class_weighted: bool = False,
    ) -> None:
        super().__init__(targets, metric, extra_metrics)
        self.class_weighted = class_weighted

    def chance(self) -> float | None:
        return self.metric.chance(2)

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        labels = self.match_target(predictions, target, predictions.shape).to(predictions.dtype)
        if not self.class_weighted:
            return masked_loss(F.binary_cross_entropy_with_logits, predictions, labels)
        present = ~labels.isnan()
        weights = (labels - labels.nanmean(dim=0)).abs()  # of 0 and 1: the fraction of the other label
        given, weights = torch.where(present, labels, 0.0), torch.where(present, weights, 0.0)
        return mean_where(F.binary_cross_entropy_with_logits(predictions, given, weights, reduction="none"), present)

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        labels = self.match_target(predictions, target, predictions.shape).to(predictions.dtype)
        wrong = labels[(labels != 0) & (labels != 1) & ~labels.isnan()]
        if len(wrong):
            raise GraphTrialError(f"a binary label is {float(wrong[0]):g}; it must be 0, 1 or missing (NaN)")
        return labels


@TASKS.register("graph-binary-classification")
class GraphBinaryClassification(BinaryClassification):
    """Predict binary labels of each graph."""

    name = "graph-binary-classification"
    level = "graph"


@TASKS.register("node-binary-classification")
class NodeBinaryClassification(BinaryClassification):
    """Predict binary labels of each node."""

    name = "node-binary-classification"
    level = "node"


@TASKS.register("edge-binary-classification")
class EdgeBinaryClassification(BinaryClassification):
    """Predict binary labels of each edge."""

    name = "edge-binary-classification"
    level = "edge"
