from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score
from torch import nn

from graphtrial.graphs import GraphBatch, Loader
from graphtrial.training.batches import Job
from graphtrial.training.evaluation import evaluate
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.training.trainer import train


def bits(outcome: Outcome) -> tuple[object, ...]:
    """Return everything of an outcome but the seconds, to the last bit."""
    history = [dataclasses.replace(epoch, seconds=0.0) for epoch in outcome.epochs]
    weights = {name: value.numpy().tobytes() for name, value in outcome.weights.items()}
    return outcome.status, outcome.params, history, outcome.scores, weights


@pytest.mark.slow
def test_training_is_bit_exact_for_equal_seeds_only(make_job: Callable[..., Job]) -> None:
    assert bits(train(make_job())) == bits(train(make_job()))
    assert bits(train(make_job())) != bits(train(make_job(seed=2)))


def test_global_random_state_and_thread_count_do_not_matter(make_job: Callable[..., Job]) -> None:
    expected = bits(train(make_job()))
    random.seed(99)
    np.random.seed(99)
    torch.manual_seed(99)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert bits(train(make_job())) == expected
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_finished_checkpoint_is_only_evaluated(
    make_job: Callable[..., Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphtrial.training.checkpoint.MAX_FRACTION", 1)  # one after each epoch
    first = train(make_job(), tmp_path / "checkpoint")
    received: list[Epoch] = []
    assert bits(train(make_job(), tmp_path / "checkpoint", received.append)) == bits(first)
    assert not received


def test_scores_match_the_returned_weights(make_job: Callable[..., Job]) -> None:
    job = make_job()
    outcome = train(job)
    model = job.build()
    model.load_state_dict(outcome.weights)
    model.eval()
    with torch.no_grad():
        batch = GraphBatch.from_set(job.graphs, job.test_ids)
        predicted = model(batch).argmax(1)
    assert outcome.scores["test"] == pytest.approx(100 * accuracy_score(batch.y, predicted))


def test_best_weights_have_the_lowest_validation_loss(make_job: Callable[..., Job]) -> None:
    job = make_job({"evaluate": "best", "optimizer.lr": 0.05})
    outcome = train(job)
    model = job.build()
    model.load_state_dict(outcome.weights)
    loss, _ = evaluate(model, job.task, Loader(job.graphs, job.val_ids, 8))
    assert loss == min(epoch.val_loss for epoch in outcome.epochs)


def test_evaluation_does_not_depend_on_the_batch_size(make_job: Callable[..., Job]) -> None:
    job = make_job()
    model = job.build()
    actual = [evaluate(model, job.task, Loader(job.graphs, job.train_ids, size)) for size in (1, 7, 40)]
    assert all(loss == pytest.approx(actual[0][0], rel=1e-6) and score == actual[0][1] for loss, score in actual)


def test_learning_rate_is_halved_on_a_plateau_until_min_lr(
    make_job: Callable[..., Job],
) -> None:
    # With a rate too small to learn anything the schedule alone decides: the same course as torch's own scheduler.
    rules = {"optimizer.lr": 1e-6, "stopping.min_lr": 2e-7, "schedule.patience": 1, "stopping.max_epochs": 100}
    outcome = train(make_job(rules, settings={"batch_norm": False}))
    parameter = nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.Adam([parameter], lr=1e-6)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    for epoch in outcome.epochs:
        assert epoch.lr == optimizer.param_groups[0]["lr"]
        scheduler.step(epoch.val_loss)
    assert (outcome.status, outcome.details["stop_reason"]) == ("done", "min_lr")
    assert optimizer.param_groups[0]["lr"] < 2e-7 <= outcome.epochs[-1].lr


def test_max_epochs_has_status_done(make_job: Callable[..., Job]) -> None:
    outcome = train(make_job({"stopping.max_epochs": 2}))
    assert (outcome.status, len(outcome.epochs), outcome.details) == ("done", 2, {"stop_reason": "max_epochs"})


def test_time_limit_evaluates_and_has_status_time(make_job: Callable[..., Job]) -> None:
    outcome = train(make_job({"stopping.max_hours": 1e-9}))
    assert (outcome.status, len(outcome.epochs)) == ("time", 1)
    assert set(outcome.scores) == {"train", "val", "test"}


def test_non_finite_loss_has_status_diverged(make_job: Callable[..., Job]) -> None:
    outcome = train(make_job({"optimizer.lr": 1e30}, settings={"batch_norm": False}, model="gcn"))
    assert outcome.status == "diverged"
    assert not outcome.scores


class _Greedy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2))

    def forward(self, graph: GraphBatch) -> torch.Tensor:
        return torch.zeros(graph.num_graphs, 1 << 55) @ self.weight


def test_out_of_memory_has_status_oom(make_job: Callable[..., Job]) -> None:
    outcome = train(dataclasses.replace(make_job(), build=_Greedy))
    assert outcome.status == "oom"
    assert outcome.params == 2


def test_other_exceptions_propagate(make_job: Callable[..., Job]) -> None:
    class Broken(_Greedy):
        def forward(self, graph: GraphBatch) -> torch.Tensor:
            raise RuntimeError("a mistake in the model")

    with pytest.raises(RuntimeError, match="a mistake in the model"):
        train(dataclasses.replace(make_job(), build=Broken))


@pytest.mark.slow
def test_training_fits_the_task(make_job: Callable[..., Job]) -> None:
    outcome = train(
        make_job({"stopping.max_epochs": 60, "schedule.patience": 20}, settings={"dropout": 0.0, "width": 32})
    )
    assert outcome.scores["train"] > 95
