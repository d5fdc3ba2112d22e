"""Ranking of links among pairs of nodes that are not linked: Hits@K and MRR."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.metrics.base import METRICS, Metric


class RankingMetric(Metric):
    """Base class of metrics that rank every link among the pairs that are not linked: all of the split, or its query's.

    A target with queries [pairs, 3] is that of the output type `ranking`: a query is numbered within its graph, and has
    one link or several, which are not ranked among each other. The mean is taken over the links of each graph, then
    over graphs, as in the Long Range Graph Benchmark (arXiv:2206.08164); with a single graph it is that over links.
    """

    higher_is_better = True
    output_types = ("pair", "ranking")

    def scores(self, predictions: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of the positive and of the negative pairs, each flat."""
        scores, positive = predictions.reshape(-1), target.reshape(-1) == 1
        self._require_links(positive)
        return scores[positive], scores[~positive]

    def mean_over_graphs(self, values: Tensor, graph: Tensor) -> float:
        """Return the mean over graphs of the mean of the values [links] of each."""
        distinct, index = graph.unique(return_inverse=True)
        sums = torch.zeros(len(distinct), dtype=torch.double).index_add_(0, index, values.double())
        return float((sums / index.bincount()).mean())

    def query_ranks(self, predictions: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return the rank of each link among the pairs of its query that are not linked, and its graph, each [links].

        .. math:: r_p = 1 + \tfrac{1}{2} \big(|\{q \in -_p : s_q > s_p\}| + |\{q \in -_p : s_q \ge s_p\}|\big)
        """
        positive, query, graph = target[:, 0] == 1, target[:, 1], target[:, 2]
        self._require_links(positive)
        # Scores and queries as one integer key, so that a single sorted array answers for all queries.
        distinct, score = predictions.reshape(-1).unique(return_inverse=True)
        query = query - query.min() + (query.max() - query.min() + 1) * graph.unique(return_inverse=True)[1]
        number = query.unique(return_inverse=True)[1]
        keys = number * len(distinct) + score
        negatives = keys[~positive].sort().values
        end = torch.searchsorted(negatives, (number[positive] + 1) * len(distinct))
        above, above_or_equal = (
            end - torch.searchsorted(negatives, keys[positive], right=right) for right in (True, False)
        )
        return 1 + 0.5 * (above + above_or_equal).double(), graph[positive]

    def _require_links(self, positive: Tensor) -> None:
        if not bool(positive.any()):
            raise GraphTrialError(f"{self.title} is undefined: there are no links among these pairs")


@METRICS.register("hits", title="Hits@K")
class Hits(RankingMetric):
    r"""Hits@K in percent, as defined by the Open Graph Benchmark (arXiv:2005.00687).

    .. math:: 100 \cdot \frac{|\{p \in + : s_p > s_{(K)}\}|}{|+|}

    where s_(K) is the K-th highest score of the negative pairs. With fewer than K of those every link is a hit. With
    queries a link is a hit if its rank (see MRR) among the negatives of its query is at most K. Written `hits@50`.
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
        if target.shape[1] > 1:
            ranks, graph = self.query_ranks(predictions, target)
            return 100.0 * self.mean_over_graphs(ranks <= self.k, graph)
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

    Every link is ranked among all negative pairs of the split or, with queries, among those of its query; a tie counts
    half.
    """

    name = "mrr"
    title = "MRR"
    range = (0.0, 1.0)
    unit = "fraction"

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        if target.shape[1] > 1:
            ranks, graph = self.query_ranks(predictions, target)
            return self.mean_over_graphs(1 / ranks, graph)
        positive, negative = self.scores(predictions, target)
        ascending = negative.sort().values
        above, above_or_equal = (
            len(negative) - torch.searchsorted(ascending, positive, right=right) for right in (True, False)
        )
        ranks = 1 + 0.5 * (above + above_or_equal).double()
        return float((1 / ranks).mean())
