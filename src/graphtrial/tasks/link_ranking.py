"""Link prediction where every link is ranked among candidates of its own."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.column import QUERY
from graphtrial.graphs.links.candidates import GRAPH, Candidates, Ids, with_candidates
from graphtrial.tasks.base import TASKS
from graphtrial.tasks.link_prediction import LinkPrediction


@TASKS.register("link-ranking")
class LinkRanking(LinkPrediction):
    r"""Rank each link among the candidates of its query; the loss is that of link prediction.

    In a single graph the queries come with the data, as on ogbl-citation2 (arXiv:2005.00687). In many graphs a link
    (i, j) is ranked among the pairs of i and every other node of its graph, as on PCQM-Contact (arXiv:2206.08164): with
    `candidates="all"`, the released metric, other links of i and i itself count as negatives; `filtered` leaves out the
    other links, `filtered-no-self` i, too (arXiv:2309.00367). The training loss is taken over the labelled pairs.

    logits: [pairs, 1]; target: [pairs] of 1 for a link while training, [pairs, 3] with query and graph to score.
    """

    name = "link-ranking"
    level = "pair"
    output_type = "ranking"

    @validated
    def __init__(
        self,
        metric: str = "mrr",
        extra_metrics: Sequence[str] = ("hits@1", "hits@3", "hits@10"),
        candidates: Candidates = "all",
    ) -> None:
        super().__init__(metric, [name for name in extra_metrics if name != metric])
        self.candidates = candidates

    def evaluation_batch(self, batch: GraphBatch, ids: Ids) -> GraphBatch:
        return with_candidates(batch, ids, self.candidates)

    def target(self, batch: GraphBatch) -> Tensor:
        linked, query = super().target(batch), batch.columns.get(QUERY)
        if query is None:
            return linked
        graph = batch.columns.get(GRAPH)
        return torch.stack([linked.long(), query, torch.zeros_like(query) if graph is None else graph], dim=1)

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        if not len(target):  # graphs without pairs
            return predictions.sum()
        return super().loss(predictions, target if target.dim() == 1 else target[:, 0])

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        if target.dim() != 2 or target.shape[1] != 3:
            raise GraphTrialError(f"links are ranked within queries, but these pairs have no column '{QUERY}'")
        self.match_target(predictions, target[:, 0], (len(predictions),))
        return target
