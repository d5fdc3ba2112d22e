"""Multi-label classification with missing labels, against scikit-learn and a loop over columns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks import EdgeClassification, GraphBinaryClassification, NodeBinaryClassification, NodeClassification


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


def test_class_weights_are_those_of_graphgps() -> None:
    """One term after another: the weight of a label is the fraction of other labels, the divisor their number."""
    logits, target = drawn(2)
    total, labels = 0.0, 0
    for column in range(2):
        given = [float(y) for y in target[:, column] if not y.isnan()]
        for z, y in zip(logits[:, column].tolist(), target[:, column].tolist(), strict=True):
            if y == y:
                weight = sum(other != y for other in given) / len(given)
                total -= weight * np.log(1 / (1 + np.exp(-z)) if y else 1 - 1 / (1 + np.exp(-z)))
                labels += 1
    task = NodeBinaryClassification(2, class_weighted=True)
    assert float(task.loss(logits, target)) == pytest.approx(total / labels, rel=1e-5)
    assert float(task.loss(logits, torch.ones_like(target))) == 0.0  # a batch of one class


def test_two_classes_are_predicted_by_a_single_logit() -> None:
    classes = NodeClassification(2, metric="balanced-accuracy", class_weighted=True)
    task = classes.single_logit()
    assert (task.name, task.outputs, task.metric.name) == ("node-binary-classification", 1, "balanced-accuracy")
    logit, target = torch.randn(50, 1), torch.randint(2, (50,))
    both = torch.cat([torch.zeros_like(logit), logit], dim=1)
    assert task.score(logit, target) == classes.score(both, target)
    positive = target.double().mean()
    weights = torch.where(target == 1, 1 - positive, positive).sum()
    weighted_mean = float(classes.loss(both, target))  # divided by the sum of weights, not by the number of nodes
    assert float(task.loss(logit, target)) == pytest.approx(weighted_mean * float(weights) / 50, rel=1e-5)
    assert task.chance() == classes.chance() == 50.0


@pytest.mark.parametrize("task", [NodeClassification(3), EdgeClassification(), GraphBinaryClassification()])
def test_other_tasks_have_no_single_logit(task: NodeClassification) -> None:
    with pytest.raises(GraphTrialError, match="no two classes that a single logit could predict"):
        task.single_logit()
