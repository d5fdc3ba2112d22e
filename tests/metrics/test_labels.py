"""Micro F1 of several labels, beside scikit-learn."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import f1_score

from graphtrial.metrics import make_metric


@pytest.mark.parametrize("seed", range(5))
def test_micro_f1_equals_scikit_learn(seed: int) -> None:
    draws = torch.Generator().manual_seed(seed)
    logits, target = torch.randn(30, 7, generator=draws), (torch.rand(30, 7, generator=draws) < 0.3).float()
    expected = f1_score(target.numpy(), (logits > 0).numpy(), average="micro")
    assert make_metric("f1-micro").compute(logits, target) == pytest.approx(expected)


def test_missing_labels_do_not_count() -> None:
    logits, target = torch.tensor([[1.0, 1.0], [-1.0, -1.0]]), torch.tensor([[1.0, float("nan")], [0.0, 1.0]])
    assert make_metric("f1-micro").compute(logits, target) == pytest.approx(2 / 3)
    assert make_metric("f1-micro").compute(-logits.abs(), torch.zeros(2, 2)) == 1.0
