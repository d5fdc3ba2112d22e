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
def test_no_positives_raise(name: str) -> None:
    with pytest.raises(GraphTrialError, match="no links among these pairs"):
        make_metric(name).compute(torch.zeros(3, 1), torch.zeros(3, 1))
