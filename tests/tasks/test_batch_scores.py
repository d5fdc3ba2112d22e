"""Losses and scores averaged over batches, against loops over batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.helpers.graphgps import SIMPLE, batch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.tasks import GraphClassification, GraphRegression, NodeClassification
from graphtrial.tasks.batch_scores import BatchScores

SIZES = (7, 7, 4)


def marked(target: Tensor) -> Tensor:
    """The target as batches of these sizes give it."""
    first = torch.zeros(len(target), dtype=target.dtype)
    first[[0, 7, 14]] = 1
    return torch.stack([target, first], dim=1)


def recall(predicted: np.ndarray, target: np.ndarray) -> float:
    return 100 * float(np.mean([np.mean(predicted[target == c] == c) for c in np.unique(target)]))


def test_errors_are_means_over_batches() -> None:
    values, target = torch.randn(18, 1), torch.randn(18)
    errors = (values[:, 0] - target).abs().split(SIZES)
    expected = float(torch.stack([each.mean() for each in errors]).mean())
    task = BatchScores(GraphRegression())
    assert task.score(values, marked(target)) == pytest.approx(expected)
    assert float(task.loss(values, marked(target))) == pytest.approx(expected)
    assert GraphRegression().score(values, target) != pytest.approx(expected, abs=1e-4)


def test_class_weights_are_those_of_each_batch() -> None:
    logits, target = torch.randn(18, 2), torch.randint(2, (18,), generator=torch.Generator().manual_seed(1))
    losses = []
    for z, y in zip(logits.split(SIZES), target.split(SIZES), strict=True):
        weights = torch.stack([(y != c).float().mean() for c in (0, 1)])
        losses.append(F.cross_entropy(z, y, weights))
    task = BatchScores(NodeClassification(2, class_weighted=True))
    torch.testing.assert_close(task.loss(logits, marked(target)), torch.stack(losses).mean())


def test_accuracy_of_dgn_takes_the_softmax_over_nodes() -> None:
    generator = torch.Generator().manual_seed(0)
    target = (torch.rand(18, generator=generator) < 0.3).long()
    target[[0, 7, 14]], target[[1, 8, 15]] = 0, 1
    logits = torch.randn(18, 2, generator=generator) + torch.tensor([3.0, 0.0])
    scores, sound = [], []
    for z, y in zip(logits.split(SIZES), target.split(SIZES), strict=True):
        exponential = np.exp(z.double().numpy())
        over_nodes = exponential / exponential.sum(axis=0, keepdims=True)
        scores.append(recall(over_nodes.argmax(axis=1), y.numpy()))
        sound.append(recall(z.numpy().argmax(axis=1), y.numpy()))
    own = NodeClassification(2, metric="balanced-accuracy")
    published = BatchScores(own, softmax_rows=True)
    assert published.score(logits, marked(target)) == pytest.approx(np.mean(scores))
    assert BatchScores(own).score(logits, marked(target)) == pytest.approx(np.mean(sound))
    assert own.score(logits, target) == pytest.approx(recall(logits.numpy().argmax(axis=1), target.numpy()))
    assert abs(np.mean(scores) - np.mean(sound)) > 5
    assert published.chance() is None


def test_softmax_over_nodes_is_refused_for_other_tasks() -> None:
    for task in (GraphRegression(), GraphClassification(2)):
        with pytest.raises(GraphTrialError, match=f"not for the task {task.name}: use batches or examples"):
            BatchScores(task, softmax_rows=True)


def test_batches_mark_their_first_row() -> None:
    graph: GraphBatch = batch(SIMPLE)
    graph = graph.with_column("y", torch.arange(graph.num_nodes))
    task = BatchScores(NodeClassification(2))
    assert task.target(graph)[:, 1].tolist() == [1] + [0] * (graph.num_nodes - 1)
    assert (task.level, task.output_type, task.outputs, task.name) == ("node", "class", 2, "node-classification")
    assert BatchScores in task.definitions
    assert NodeClassification in task.definitions
