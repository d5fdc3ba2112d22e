"""Ranking of links among pairs of nodes that are not linked: Hits@K and MRR."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.metrics.base import METRICS, Metric


class RankingMetric(Metric):
    """Base class of metrics that rank every positive pair among all negative pairs of the split."""

    higher_is_better = True
    output_types = ("pair",)

    def scores(self, predictions: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of the positive and of the negative pairs, each flat."""
        scores, positive = predictions.reshape(-1), target.reshape(-1) == 1
        if not bool(positive.any()):
            raise GraphTrialError(f"{self.title} is undefined: there are no links among these pairs")
        return scores[positive], scores[~positive]


@METRICS.register("hits", title="Hits@K")
class Hits(RankingMetric):
    r"""Hits@K in percent, as defined by the Open Graph Benchmark (arXiv:2005.00687).

    .. math:: 100 \cdot \frac{|\{p \in + : s_p > s_{(K)}\}|}{|+|}

    where s_(K) is the K-th highest score of the negative pairs. With fewer than K of those every link is a hit.
    Written `hits@50`.
    """

    name = "hits"
    title = "Hits@K"
    range = (0.0, 100.0)
    unit = "%"

    @validated
    def __init__(self, k: PositiveInt = 50) -> None:
        self.k = k
        self.title = f"Hits@{k}"

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        positive, negative = self.scores(predictions, target)
        if len(negative) < self.k:
            return 100.0
        threshold = negative.topk(self.k).values[-1]
        return 100.0 * float((positive > threshold).double().mean())


@METRICS.register("mrr", title="MRR")
class MRR(RankingMetric):
    r"""Mean reciprocal rank, as defined by the Open Graph Benchmark (arXiv:2005.00687).

    .. math:: \frac{1}{|+|} \sum_{p \in +} \frac{1}{r_p}, \quad
        r_p = 1 + \tfrac{1}{2} \big(|\{q \in - : s_q > s_p\}| + |\{q \in - : s_q \ge s_p\}|\big)

    Every link is ranked among all negative pairs of the split; a tie counts half.
    """

    name = "mrr"
    title = "MRR"
    range = (0.0, 1.0)
    unit = "fraction"

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        positive, negative = self.scores(predictions, target)
        ascending = negative.sort().values
        above, above_or_equal = (
            len(negative) - torch.searchsorted(ascending, positive, right=right) for right in (True, False)
        )
        ranks = 1 + 0.5 * (above + above_or_equal).double()
        return float((1 / ranks).mean())
