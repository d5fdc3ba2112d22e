"""Link prediction."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.arguments import Count, validated
from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks.base import TASKS, Task


@TASKS.register("link-prediction")
class LinkPrediction(Task):
    r"""Rank the pairs that are linked above those that are not; Hits@K in percent.

    .. math::
        \mathrm{loss} = \mathrm{mean}_{+} - \log \sigma(s) + \mathrm{mean}_{-} - \log (1 - \sigma(s)), \qquad
        \mathrm{Hits@}K = 100 \cdot \frac{|\{p \in + : s_p > s_{(K)}\}|}{|+|}

    where s_(K) is the K-th highest score among the pairs that are not linked. With fewer than K of those every link is
    a hit, as in the rule of the Open Graph Benchmark. prediction: [pairs, 1]; target: [pairs], 1 for a link.
    """

    name = "link-prediction"
    level = "pair"
    metric = "Hits@50"
    higher_is_better = True
    range = (0.0, 100.0)

    @validated
    def __init__(self, hits: Count = 50) -> None:
        self.outputs = 1
        self.hits = hits
        self.metric = f"Hits@{hits}"

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        scores, linked = self._scores(prediction, target)
        losses = F.binary_cross_entropy_with_logits(scores, linked.to(scores.dtype), reduction="none")
        parts = [losses[chosen].mean() for chosen in (linked, ~linked) if bool(chosen.any())]
        return torch.stack(parts).sum()

    def score(self, prediction: Tensor, target: Tensor) -> float:
        self.scored(target)
        scores, linked = self._scores(prediction, target)
        others = scores[~linked]
        if not bool(linked.any()):
            raise GraphTrialError("there are no links among these pairs, so that no share of them can be found")
        if len(others) < self.hits:
            return 100.0
        threshold = others.topk(self.hits).values[-1]
        return 100.0 * float((scores[linked] > threshold).double().mean())

    def _scores(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        linked = self.fitting(prediction, target, (len(prediction),)) == 1
        return prediction.reshape(len(prediction)), linked
