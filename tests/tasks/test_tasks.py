"""Losses and metrics against scikit-learn, for targets of any shape."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss, mean_absolute_error
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.tasks import (
    TASKS,
    EdgeClassification,
    GraphClassification,
    GraphRegression,
    GraphTheory,
    LinkPrediction,
    NodeClassification,
    Task,
    TaskLevel,
)

patiently = settings(deadline=None)
SEEDS = st.integers(0, 2**31)


def classified(examples: int, classes: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    prediction = torch.randn(examples, classes, generator=generator)
    return prediction, torch.randint(classes, (examples,), generator=generator)


def measured(examples: int, targets: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(examples, targets, generator=generator), torch.randn(examples, targets, generator=generator)


@patiently
@given(st.integers(1, 40), st.integers(2, 6), SEEDS)
def test_classification_against_scikit_learn(examples: int, classes: int, seed: int) -> None:
    task = GraphClassification(classes)
    prediction, target = classified(examples, classes, seed)
    chosen = prediction.numpy().argmax(axis=1)
    assert task.score(prediction, target) == pytest.approx(100 * accuracy_score(target.numpy(), chosen))
    expected = log_loss(target.numpy(), prediction.double().softmax(1).numpy(), labels=range(classes))
    assert float(task.loss(prediction, target)) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@patiently
@given(st.integers(1, 40), st.integers(1, 4), SEEDS)
def test_regression_against_scikit_learn(examples: int, targets: int, seed: int) -> None:
    task = GraphRegression(targets)
    prediction, target = measured(examples, targets, seed)
    expected = mean_absolute_error(target.double().numpy(), prediction.double().numpy())
    assert task.score(prediction, target) == pytest.approx(expected, rel=1e-9)
    assert float(task.loss(prediction, target)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("shape", [(30,), (30, 1)])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32])
def test_class_targets_may_have_any_shape_and_dtype(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    task = GraphClassification(5)
    prediction, target = classified(30, 5, seed=0)
    other = target.reshape(shape).to(dtype)
    assert task.score(prediction, other) == task.score(prediction, target)
    assert torch.equal(task.loss(prediction, other), task.loss(prediction, target))


@pytest.mark.parametrize("shape", [(30,), (30, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_regression_targets_may_have_any_shape_and_dtype(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    task = GraphRegression()
    prediction = measured(30, 1, seed=0)[0]
    target = torch.arange(30).reshape(shape).to(dtype)
    expected = mean_absolute_error(np.arange(30), prediction.reshape(-1).numpy())
    assert task.score(prediction, target) == pytest.approx(expected, rel=1e-6)
    assert float(task.loss(prediction, target)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("cut", [1, 7, 29])
def test_scores_are_over_examples_not_over_batches(cut: int) -> None:
    for task, (prediction, target) in (
        (GraphClassification(4), classified(30, 4, seed=1)),
        (GraphRegression(2), measured(30, 2, seed=1)),
    ):
        parts = [(prediction[:cut], target[:cut]), (prediction[cut:], target[cut:])]
        weighted = sum(task.score(*part) * len(part[1]) for part in parts) / 30
        assert weighted == pytest.approx(task.score(prediction, target))


def test_score_is_accumulated_in_double_precision() -> None:
    prediction = torch.zeros(1_000_000, 1)
    target = torch.full((1_000_000,), 0.1)
    assert GraphRegression().score(prediction, target) == pytest.approx(float(np.float32(0.1)), rel=1e-12)


@pytest.mark.parametrize(
    ("task", "prediction", "target", "message"),
    [
        (GraphClassification(3), torch.zeros(4, 3), torch.zeros(5), "4 predictions of 3 numbers, but targets of shape"),
        (GraphClassification(3), torch.zeros(4, 2), torch.zeros(4), "4 predictions of 2 numbers"),
        (GraphClassification(3), torch.zeros(2, 3), torch.tensor([0, 3]), "class 3, but there are 3 classes"),
        (GraphClassification(3), torch.zeros(2, 3), torch.tensor([-1, 0]), "class -1, but there are 3 classes"),
        (GraphRegression(2), torch.zeros(4, 2), torch.zeros(4), r"4 predictions of 2 numbers, but targets of shape"),
        (GraphRegression(1), torch.zeros(4, 1), torch.zeros(4, 2), r"4 predictions of 1 numbers, but targets of shape"),
        (GraphClassification(3), torch.zeros(0, 3), torch.zeros(0), "there are no examples to score"),
        (GraphRegression(), torch.zeros(0, 1), torch.zeros(0), "there are no examples to score"),
    ],
)
def test_mismatched_predictions_and_targets_raise(task: Task, prediction: Tensor, target: Tensor, message: str) -> None:
    with pytest.raises(GraphTrialError, match=message):
        task.score(prediction, target)


def test_task_metadata() -> None:
    for name in TASKS:
        kind = TASKS.get(name)
        assert kind.name == name
        assert kind.level in get_args(TaskLevel)
    assert GraphClassification(10).outputs == 10
    assert (GraphRegression().outputs, GraphRegression(3).outputs) == (1, 3)
    assert (GraphClassification(2).metric.title, GraphRegression().metric.title) == ("accuracy", "MAE")


def test_targets_come_from_the_batch() -> None:
    with_target = GraphSet.build([1, 1], [0, 0], np.zeros((2, 0)), {"y": Column(np.array([3, 4]), "graph")})
    assert GraphClassification(5).target(GraphBatch.from_set(with_target, [1, 0])).tolist() == [4, 3]
    without = GraphSet.build([1], [0], np.zeros((2, 0)))
    with pytest.raises(GraphTrialError, match="these graphs have no target column 'y'"):
        GraphClassification(5).target(GraphBatch.from_set(without, [0]))


def test_training_lowers_the_loss_and_raises_the_score() -> None:
    task = GraphClassification(3)
    prediction, target = classified(20, 3, seed=2)
    prediction.requires_grad_()
    before = task.score(prediction, target)
    for _ in range(50):
        (gradient,) = torch.autograd.grad(task.loss(prediction, target), prediction)
        prediction = (prediction - 20 * gradient).detach().requires_grad_()
    assert task.score(prediction, target) == 100.0 > before


@patiently
@given(st.integers(1, 40), st.integers(2, 6), SEEDS)
def test_balanced_classification_against_scikit_learn(examples: int, classes: int, seed: int) -> None:
    task = NodeClassification(classes, metric="balanced-accuracy", class_weighted=True)
    prediction, target = classified(examples, classes, seed)
    remaining = np.unique(target.numpy())
    chosen = prediction.numpy().argmax(axis=1)
    recalls = [(chosen[target.numpy() == c] == c).mean() for c in remaining]
    assert task.score(prediction, target) == pytest.approx(100 * np.mean(recalls))
    if set(chosen) <= set(remaining):
        assert task.score(prediction, target) == pytest.approx(100 * balanced_accuracy_score(target.numpy(), chosen))
    weight = np.array([(examples - (target.numpy() == c).sum()) / examples for c in target.numpy()])
    if len(remaining) > 1:
        expected = log_loss(target.numpy(), prediction.softmax(1).numpy(), sample_weight=weight, labels=range(classes))
        assert float(task.loss(prediction, target)) == pytest.approx(expected, rel=1e-4)


@patiently
@given(st.integers(1, 60), SEEDS)
def test_edge_classification_against_scikit_learn(examples: int, seed: int) -> None:
    prediction, target = classified(examples, 2, seed)
    expected = f1_score(target.numpy(), prediction.numpy().argmax(axis=1), zero_division=1.0)
    assert EdgeClassification().score(prediction, target) == pytest.approx(expected)


@patiently
@given(st.integers(1, 60), st.integers(1, 9), SEEDS)
def test_hits_count_positives_above_the_kth_negative(examples: int, hits: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(-4, 5, (examples, 1), generator=generator).float()  # with many ties
    target = torch.randint(2, (examples,), generator=generator)
    target[0] = 1
    others = sorted((float(s) for s, y in zip(scores, target, strict=True) if y == 0), reverse=True)
    links = [float(s) for s, y in zip(scores, target, strict=True) if y == 1]
    actual = [s for s in links if len(others) < hits or s > others[hits - 1]]
    assert LinkPrediction(f"hits@{hits}").score(scores, target) == pytest.approx(100 * len(actual) / len(links))
    assert LinkPrediction(f"hits@{hits}").metric.title == f"Hits@{hits}"


def test_link_loss_weighs_positives_and_negatives_equally() -> None:
    scores, target = torch.tensor([[1.0], [2.0], [-1.0]]), torch.tensor([1, 1, 0])
    positive = np.mean([np.log1p(np.exp(-1.0)), np.log1p(np.exp(-2.0))])
    assert float(LinkPrediction().loss(scores, target)) == pytest.approx(positive + np.log1p(np.exp(-1.0)), rel=1e-6)
    with pytest.raises(GraphTrialError, match="no links among these pairs"):
        LinkPrediction().score(scores, torch.zeros(3))


def test_graph_theory_score_is_log10_of_mean_mse() -> None:
    columns = {
        "node_y": Column(np.arange(9.0, dtype=np.float32).reshape(3, 3), "node"),
        "y": Column(np.ones((2, 3), np.float32), "graph"),
    }
    graphs = GraphSet.build([1, 2], [0, 0], np.zeros((2, 0)), columns)
    task = GraphTheory()
    target = task.target(GraphBatch.from_set(graphs, [0, 1]))
    assert target.shape == (5, 4)
    prediction = torch.zeros(5, 3)
    of_nodes = (np.arange(9.0).reshape(3, 3) ** 2).mean(axis=0)
    expected = np.mean([*of_nodes, 1.0, 1.0, 1.0])
    assert float(task.loss(prediction, target)) == pytest.approx(expected)
    assert task.score(prediction, target) == pytest.approx(np.log10(expected))
    with pytest.raises(GraphTrialError, match="lack the target columns"):
        task.target(GraphBatch.from_set(GraphSet.build([1], [0], np.zeros((2, 0))), [0]))


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (GraphRegression, {"metric": "accuracy"}, "metric 'accuracy' is not defined for graph-regression; choose mae"),
        (GraphClassification, {"classes": 3, "metric": "mae"}, "'mae' is not defined for graph-classification"),
        (EdgeClassification, {"classes": 3}, "'f1-binary' is not defined for edge-classification with more or fewer"),
        (NodeClassification, {"classes": 3, "extra_metrics": ["roc-auc"]}, "'roc-auc' is not defined"),
        (LinkPrediction, {"metric": "hit"}, "no metric called 'hit'. Did you mean 'hits'"),
    ],
)
def test_incompatible_metric_raises(kind: type[Task], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphTrialError, match=message):
        kind(**arguments)


@patiently
@given(st.integers(2, 40), st.integers(2, 6), SEEDS)
def test_any_metric_of_classes_scores_a_classification(examples: int, classes: int, seed: int) -> None:
    task = NodeClassification(classes, metric="f1-macro", extra_metrics=["accuracy"])
    prediction, target = classified(examples, classes, seed)
    predicted = prediction.numpy().argmax(axis=1)
    assert task.score(prediction, target) == pytest.approx(f1_score(target.numpy(), predicted, average="macro"))
    assert task.extra_scores(prediction, target) == {"accuracy": pytest.approx(100 * accuracy_score(target, predicted))}
