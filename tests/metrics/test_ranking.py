"""Hits@K and MRR against the definitions of the Open Graph Benchmark (ogb.linkproppred.Evaluator)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics import make_metric


def drawn(examples: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(-4, 5, (examples, 1), generator=generator).float()  # with many ties
    target = torch.randint(2, (examples, 1), generator=generator).float()
    target[0] = 1
    return scores, target


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 2**31))
def test_hits_match_ogb(examples: int, k: int, seed: int) -> None:
    scores, target = drawn(examples, seed)
    positive, negative = scores[target == 1].numpy(), scores[target == 0].numpy()
    expected = 1.0 if len(negative) < k else (positive > np.sort(negative)[-k]).mean()
    metric = make_metric(f"hits@{k}")
    assert metric.compute(scores, target) == pytest.approx(100 * expected)
    assert metric.title == f"Hits@{k}"


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**31))
def test_mean_reciprocal_rank_matches_ogb(examples: int, seed: int) -> None:
    scores, target = drawn(examples, seed)
    positive, negative = scores[target == 1].numpy()[:, None], scores[target == 0].numpy()[None, :]
    optimistic, pessimistic = (negative > positive).sum(axis=1), (negative >= positive).sum(axis=1)
    expected = (1 / (0.5 * (optimistic + pessimistic) + 1)).mean()
    assert make_metric("mrr").compute(scores, target) == pytest.approx(expected)


def test_ranks_without_ties() -> None:
    scores, target = torch.tensor([[3.0], [2.0], [1.0], [0.0]]), torch.tensor([[0.0], [1.0], [0.0], [1.0]])
    assert make_metric("mrr").compute(scores, target) == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert make_metric("hits@1").compute(scores, target) == 0.0
    assert make_metric("hits@2").compute(scores, target) == 50.0


@pytest.mark.parametrize("name", ["hits@3", "mrr"])
@pytest.mark.parametrize("columns", [1, 3])
def test_no_positives_raise(name: str, columns: int) -> None:
    with pytest.raises(GraphTrialError, match="no links among these pairs"):
        make_metric(name).compute(torch.zeros(3, 1), torch.zeros(3, columns).long())


def queries(links: int, negatives: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores of links and of the negatives of each, with many ties, and both as shuffled pairs of one graph."""
    generator = torch.Generator().manual_seed(seed)
    positive = torch.randint(-3, 4, (links,), generator=generator).float()
    negative = torch.randint(-3, 4, (links, negatives), generator=generator).float()
    scores = torch.cat([positive[:, None], negative], dim=1).reshape(-1, 1)
    target = torch.zeros(len(scores), 3, dtype=torch.long)
    target[:: negatives + 1, 0] = 1
    target[:, 1] = 7 * torch.arange(links).repeat_interleave(negatives + 1) - 50
    order = torch.randperm(len(scores), generator=generator)
    return positive, negative, scores[order], target[order]


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 2**31))
def test_links_are_ranked_within_queries(links: int, negatives: int, seed: int) -> None:
    positive, negative, scores, target = queries(links, negatives, seed)
    ranks = []
    for score, others in zip(positive.tolist(), negative.tolist(), strict=True):
        ranks.append(1 + 0.5 * (sum(s > score for s in others) + sum(s >= score for s in others)))
    assert make_metric("mrr").compute(scores, target) == pytest.approx(np.mean([1 / rank for rank in ranks]))
    for k in (1, 3, 10):
        hits = 100 * np.mean([rank <= k for rank in ranks])
        assert make_metric(f"hits@{k}").compute(scores, target) == pytest.approx(hits)


@pytest.mark.slow
def test_queries_match_the_evaluator_of_ogb() -> None:
    evaluator = pytest.importorskip("ogb.linkproppred").Evaluator("ogbl-citation2")
    for seed in range(20):
        positive, negative, scores, target = queries(40, 25, seed)
        expected = evaluator.eval({"y_pred_pos": positive, "y_pred_neg": negative})
        assert make_metric("mrr").compute(scores, target) == pytest.approx(float(expected["mrr_list"].mean()))
        for k in (1, 3, 10):
            hits = 100 * float(expected[f"hits@{k}_list"].mean())
            assert make_metric(f"hits@{k}").compute(scores, target) == pytest.approx(hits)


def test_mean_is_over_the_links_of_a_graph_then_over_graphs() -> None:
    scores = torch.tensor([[1.0], [2.0], [5.0], [4.0], [5.0], [4.0]])
    target = torch.tensor([[1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]])
    assert make_metric("mrr").compute(scores, target) == pytest.approx((1 / 2 + 1) / 2)
    assert make_metric("hits@1").compute(scores, target) == 50.0
    target[:, 1:] = torch.tensor([[0, 0], [0, 0], [1, 0], [1, 0], [2, 0], [2, 0]])
    assert make_metric("mrr").compute(scores, target) == pytest.approx((1 / 2 + 1 + 1) / 3)


def test_links_of_a_query_are_not_ranked_among_each_other() -> None:
    scores, target = torch.tensor([[3.0], [2.0], [1.0]]), torch.tensor([[1, 0, 0], [1, 0, 0], [0, 0, 0]])
    assert make_metric("mrr").compute(scores, target) == 1.0
