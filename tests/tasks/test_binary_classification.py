"""Multi-label classification with missing labels, against scikit-learn and a loop over columns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks import GraphBinaryClassification, NodeBinaryClassification


def drawn(targets: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(targets)
    logits, target = rng.normal(size=(80, targets)), rng.integers(2, size=(80, targets)).astype(float)
    target[rng.random(target.shape) < 0.3] = np.nan
    return torch.tensor(logits, dtype=torch.float32), torch.tensor(target, dtype=torch.float32)


@pytest.mark.parametrize("kind", [GraphBinaryClassification, NodeBinaryClassification])
@pytest.mark.parametrize("targets", [1, 4])
def test_missing_labels_are_masked_in_loss_and_scores(kind: type[GraphBinaryClassification], targets: int) -> None:
    logits, target = drawn(targets)
    task = kind(targets, extra_metrics=["average-precision"])
    there = ~target.isnan()
    expected = log_loss(target[there], torch.sigmoid(logits[there].double()))
    assert float(task.loss(logits, target)) == pytest.approx(expected, rel=1e-5)
    columns = [(y[m].numpy(), z[m].numpy()) for y, z, m in zip(target.T, logits.T, there.T, strict=True)]
    assert task.score(logits, target) == pytest.approx(np.mean([roc_auc_score(*column) for column in columns]))
    precision = np.mean([average_precision_score(*column) for column in columns])
    assert task.extra_scores(logits, target) == {"AP": pytest.approx(precision)}


def test_single_target_may_be_one_dimensional() -> None:
    logits, target = drawn(1)
    task = GraphBinaryClassification()
    assert task.score(logits, target[:, 0]) == task.score(logits, target)
    assert torch.equal(task.loss(logits, target[:, 0]), task.loss(logits, target))


def test_batch_without_labels_has_zero_loss_and_gradient() -> None:
    logits = torch.randn(4, 2, requires_grad=True)
    loss = GraphBinaryClassification(2).loss(logits, torch.full((4, 2), torch.nan))
    (gradient,) = torch.autograd.grad(loss, logits)
    assert loss.item() == 0.0
    assert (gradient == 0).all()


def test_non_binary_labels_raise() -> None:
    with pytest.raises(GraphTrialError, match="a binary label is 2; it must be 0, 1 or missing"):
        GraphBinaryClassification().score(torch.zeros(3, 1), torch.tensor([0.0, 1.0, 2.0]))
