"""Gradient accumulation and clipping against loops written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.loader import AccumulatingLoader
from graphtrial.training.batches import Job, steps_per_epoch, training_batches
from graphtrial.training.trainer import train

PLAIN = {"batch_norm": False, "dropout": 0.0}


@pytest.mark.parametrize(("batch_size", "accumulation"), [(4, 2), (2, 4), (3, 5)])
def test_accumulated_batches_train_as_one_large_batch(
    make_job: Callable[..., Job], batch_size: int, accumulation: int
) -> None:
    rules = {"batch_size": batch_size, "accumulation": accumulation, "stopping.max_epochs": 2}
    accumulated = train(make_job(rules, model="gcn", settings=PLAIN))
    large = {"batch_size": batch_size * accumulation, "stopping.max_epochs": 2}
    whole = train(make_job(large, model="gcn", settings=PLAIN))
    for one, other in zip(accumulated.epochs, whole.epochs, strict=True):
        assert one.train_loss == pytest.approx(other.train_loss, rel=1e-4)
    for name, value in whole.weights.items():
        torch.testing.assert_close(accumulated.weights[name], value, rtol=1e-2, atol=1e-4)


def test_gradient_norm_is_clipped(make_job: Callable[..., Job]) -> None:
    limit = 0.05
    rules = {"clip_grad_norm": limit, "batch_size": 40, "stopping.max_epochs": 1, "optimizer": "sgd:lr=1.0"}
    job = make_job(rules, model="gcn", settings=PLAIN)
    after = train(job).weights
    torch.manual_seed(job.seed)
    before = job.build().state_dict()
    moved = torch.cat([(after[name] - before[name]).flatten() for name in before]).norm()
    assert float(moved) == pytest.approx(limit, rel=1e-3)  # with SGD and lr 1 a step is the gradient
    free = make_job({**rules, "clip_grad_norm": "none"}, model="gcn", settings=PLAIN)
    far = train(free).weights
    assert float(torch.cat([(far[name] - before[name]).flatten() for name in before]).norm()) > 2 * limit


def test_as_published_accumulation_matches_a_loop_over_graphs(make_job: Callable[..., Job]) -> None:
    rules = {"accumulation": "as-published", "batch_size": 4, "stopping.max_epochs": 1}
    job = make_job(rules, model="gcn", settings=PLAIN)
    weights = train(job).weights

    torch.manual_seed(job.seed)
    model = job.build()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    order = torch.randperm(len(job.train_ids), generator=torch.Generator().manual_seed(job.seed)).numpy()
    optimizer.zero_grad()
    for number, graph in enumerate(job.train_ids[order]):
        batch = GraphBatch.from_set(job.graphs, [graph])
        job.task.loss(model(batch), job.task.target(batch)).backward()
        if number % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
    for name, value in model.state_dict().items():
        torch.testing.assert_close(weights[name], value, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("rules", [{}, {"batch_size": 7}, {"accumulation": 3}, {"accumulation": "as-published"}])
@pytest.mark.parametrize("graphs_trained", [1, 7, 40])
def test_steps_per_epoch_are_counted(
    make_job: Callable[..., Job], rules: dict[str, object], graphs_trained: int
) -> None:
    job = make_job(rules)
    vars(job)["train_ids"] = np.asarray(job.train_ids[:graphs_trained])
    batches = training_batches(job, torch.Generator().manual_seed(0))
    size = job.rules.accumulation if isinstance(job.rules.accumulation, int) else 1
    assert isinstance(batches, AccumulatingLoader) == (rules.get("accumulation") == "as-published")
    assert steps_per_epoch(job) == -(-len(list(batches)) // size)
