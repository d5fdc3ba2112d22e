"""Vectorized trainings against single ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphSet
from graphtrial.nn import Shapes, build_model
from graphtrial.ops import sparse_features
from graphtrial.tasks import NodeClassification
from graphtrial.training.batches import Job
from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.optim.stopping.early_stopping import EarlyStopping
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.outcome import Outcome
from graphtrial.training.rules import TrainingRules
from graphtrial.training.trainer import train
from graphtrial.training.vectorized import train_vectorized

NODES, CLASSES = 120, 3
RULES = TrainingRules(
    batch_size=1,
    optimizer=Adam(lr=0.1, weight_decay=5e-4),
    stopping=(EarlyStopping(5), MaxEpochs(60)),
    evaluate="best",
)

pytestmark = pytest.mark.kernels
SETTINGS: dict[str, dict[str, Any]] = {
    "gcn-direct": {"width": 8, "dropout": 0.3, "layers": 3},
    "mlp-direct": {"width": 8, "dropout": 0.3, "layers": 3},
}


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    """Noisy features of three classes, and links mostly within them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, NODES)
    ends = rng.integers(0, NODES, (2, 2000))
    ends = ends[:, (y[ends[0]] == y[ends[1]]) | (rng.random(2000) < 0.2)]
    ends = np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)
    x = (np.eye(CLASSES, 12)[y] + rng.normal(size=(NODES, 12))).astype(np.float32)
    columns = {"x": Column(x, "node"), "y": Column(y, "node", types=CLASSES)}
    return GraphSet.build([NODES], [ends.shape[1]], ends, columns)


def jobs(graphs: GraphSet, name: str, rules: TrainingRules = RULES, double: bool = True, **settings: Any) -> list[Job]:
    task = NodeClassification(CLASSES)
    shapes = Shapes.of(graphs, task)

    def build() -> torch.nn.Module:
        model = build_model(name, shapes, {**SETTINGS.get(name, {}), **settings})
        return model.double() if double else model

    built = []
    for split in range(3):
        order = np.random.default_rng(split).permutation(NODES)
        for seed in range(2):
            built.append(
                Job(graphs, order[:20], order[20:60], order[60:], task, build, rules, seed, split_level="node")
            )
    return built


def same(ours: Outcome, theirs: Outcome, tolerance: float) -> None:
    assert (ours.status, ours.params, len(ours.epochs)) == (theirs.status, theirs.params, len(theirs.epochs))
    for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
        assert (mine.epoch, mine.lr) == (other.epoch, other.lr)
        assert mine.train_loss == pytest.approx(other.train_loss, rel=tolerance)
        assert mine.val_loss == pytest.approx(other.val_loss, rel=tolerance)
        assert mine.val_score == other.val_score
    assert ours.scores == theirs.scores
    for name, value in ours.weights.items():
        torch.testing.assert_close(value, theirs.weights[name], rtol=tolerance, atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_vectorized_matches_single_trainings(graphs: GraphSet, name: str) -> None:
    ended: list[int] = []
    batched = train_vectorized(jobs(graphs, name), on_end=lambda number, outcome: ended.append(number))
    alone = [train(job) for job in jobs(graphs, name)]
    lengths = [len(outcome.epochs) for outcome in alone]
    assert len(set(lengths)) > 2, "some end earlier than others"
    assert sorted(ended) == list(range(6))
    for ours, theirs in zip(batched, alone, strict=True):
        same(ours, theirs, 1e-8)


def test_vectorized_float32_matches_for_the_first_epochs(graphs: GraphSet) -> None:
    few = TrainingRules(batch_size=1, optimizer=Adam(lr=0.02), stopping=(MaxEpochs(5),))
    for ours, theirs in zip(
        train_vectorized(jobs(graphs, "gcn-direct", few, double=False)),
        [train(job) for job in jobs(graphs, "gcn-direct", few, double=False)],
        strict=True,
    ):
        for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
            assert mine.val_loss == pytest.approx(other.val_loss, rel=1e-4)


@pytest.mark.slow
def test_vectorized_sparse_features_match(graphs: GraphSet) -> None:
    given = graphs.column("x").values
    few = np.where(np.abs(given) > 2.0, given, 0.0).astype(np.float32)
    wide = np.concatenate([np.roll(few, shift, axis=0) for shift in range(12)], axis=1)
    assert sparse_features(torch.from_numpy(wide)) is not None
    sparse = graphs.with_column("x", Column(wide, "node"))
    for name in ("gcn-direct", "mlp-direct"):
        alone = [train(job) for job in jobs(sparse, name)]
        for ours, theirs in zip(train_vectorized(jobs(sparse, name)), alone, strict=True):
            same(ours, theirs, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "layers"), [("gcn-direct", 1), ("gcn-direct", 2), ("mlp-direct", 1), ("mlp-direct", 2)]
)
def test_vectorized_matches_for_any_split_and_depth(graphs: GraphSet, name: str, layers: int) -> None:
    def given() -> list[Job]:
        built = jobs(graphs, name, layers=layers)
        return [
            replace(job, train_ids=job.train_ids[: 20 - 3 * i], val_ids=job.val_ids[i:]) for i, job in enumerate(built)
        ]

    for ours, theirs in zip(train_vectorized(given()), [train(job) for job in given()], strict=True):
        same(ours, theirs, 1e-8)


def test_vectorized_trials_have_separate_learning_rates(graphs: GraphSet) -> None:
    halving = RULES.changed(
        {
            "optimizer": "adam:lr=0.5",
            "schedule": "plateau:factor=0.5,patience=1",
            "stopping": {"early_stopping": "none", "min_lr": 0.05, "max_epochs": 40},
            "evaluate": "last",
        }
    )
    alone = [train(job) for job in jobs(graphs, "gcn-direct", halving)]
    assert len({tuple(epoch.lr for epoch in outcome.epochs) for outcome in alone}) > 2
    for ours, theirs in zip(train_vectorized(jobs(graphs, "gcn-direct", halving)), alone, strict=True):
        same(ours, theirs, 1e-6)


@pytest.mark.parametrize(
    "changes",
    [
        {"optimizer": "sgd:lr=0.5,momentum=0.9", "clip_grad_norm": 0.1},
        {"optimizer": "adamw:lr=0.1", "schedule": "one-cycle", "stopping.max_epochs": 12},
    ],
)
def test_vectorized_matches_for_every_component(graphs: GraphSet, changes: dict[str, Any]) -> None:
    rules = RULES.changed(changes)
    alone = [train(job) for job in jobs(graphs, "gcn-direct", rules)]
    for ours, theirs in zip(train_vectorized(jobs(graphs, "gcn-direct", rules)), alone, strict=True):
        same(ours, theirs, 1e-6)


def test_diverged_training_does_not_affect_others(graphs: GraphSet) -> None:
    given = jobs(graphs, "mlp-direct")
    rules = TrainingRules(batch_size=1, optimizer=Adam(lr=1e200), stopping=(MaxEpochs(10),))
    vars(given[1])["rules"] = rules
    outcomes = train_vectorized(given)
    assert [outcome.status for outcome in outcomes] == ["done", "diverged", "done", "done", "done", "done"]


def test_unsupported_models_raise(graphs: GraphSet) -> None:
    with pytest.raises(GraphTrialError, match="one by one"):
        train_vectorized(jobs(graphs, "gin", width=8))
