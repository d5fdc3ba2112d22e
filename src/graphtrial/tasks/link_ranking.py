"""Link prediction by the area under curves."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks.base import TASKS
from graphtrial.tasks.link_prediction import LinkPrediction


@TASKS.register("link-ranking")
class LinkRanking(LinkPrediction):
    r"""Rank the pairs that are linked above those that are not; the area under the ROC curve, and average precision.

    .. math::
        \mathrm{AUC} = P(s_+ > s_-) + \tfrac{1}{2} P(s_+ = s_-), \qquad
        \mathrm{AP} = \sum_n (R_n - R_{n-1}) \, P_n

    with precision P_n and recall R_n at the n-th highest of the different scores. The loss is that of link prediction.
    prediction: [pairs, 1]; target: [pairs], 1 for a link.
    """

    name = "link-ranking"
    metric = "ROC-AUC"
    range = (0.0, 1.0)

    def __init__(self) -> None:
        super().__init__()
        self.metric = "ROC-AUC"

    def chance(self) -> float | None:
        return 0.5

    def score(self, prediction: Tensor, target: Tensor) -> float:
        linked, others = self._steps(prediction, target)
        before = others.cumsum(0) - others
        below = others.sum() - before - others
        return float((linked * (below + others / 2)).sum() / (linked.sum() * others.sum()))

    def further(self, prediction: Tensor, target: Tensor) -> dict[str, float | list[float]]:
        linked, others = self._steps(prediction, target)
        found = linked.cumsum(0)
        precision = found / (found + others.cumsum(0))
        return {"AP": float((linked / linked.sum() * precision).sum())}

    def _steps(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return how many links and how many other pairs have each of the different scores, the highest first."""
        self.scored(target)
        scores, linked = self._scores(prediction, target)
        if not bool(linked.any()) or bool(linked.all()):
            raise GraphTrialError("a curve needs pairs that are linked and pairs that are not; here is but one kind")
        different, place = scores.unique(return_inverse=True)
        links = torch.bincount(place[linked], minlength=len(different)).double().flip(0)
        return links, torch.bincount(place[~linked], minlength=len(different)).double().flip(0)
