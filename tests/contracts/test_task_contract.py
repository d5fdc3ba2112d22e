"""Contract of every registered task."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import declared_arguments
from graphtrial.metrics import METRICS
from graphtrial.tasks import TASKS, Task, TaskLevel

Example = tuple[Tensor, Tensor]
"""A target for each example, and the prediction that is right in every one."""

EXAMPLES = 60


def classes(task: Task, generator: torch.Generator) -> Example:
    target = torch.randint(task.outputs, (EXAMPLES,), generator=generator)
    return target, 20.0 * torch.nn.functional.one_hot(target, task.outputs)


def numbers(task: Task, generator: torch.Generator) -> Example:
    target = torch.randn(EXAMPLES, task.outputs, generator=generator)
    return target, target.clone()


def links(task: Task, generator: torch.Generator) -> Example:
    target = torch.randint(2, (EXAMPLES,), generator=generator)
    return target, 20.0 * (2 * target[:, None] - 1)


def queries(task: Task, generator: torch.Generator) -> Example:
    """Queries of two links and three other pairs each, in two graphs that number theirs alike."""
    linked = (torch.arange(EXAMPLES) % 5 < 2).long()
    query = torch.arange(EXAMPLES) // 5
    return torch.stack([linked, query % 6, query // 6], dim=1), 20.0 * (2 * linked[:, None] - 1)


def labels(task: Task, generator: torch.Generator) -> Example:
    target = torch.randint(2, (EXAMPLES, task.outputs), generator=generator).float()
    target[::7] = torch.nan
    return target, torch.where(target.isnan(), 0.0, 40.0 * target - 20.0)


def of_nodes_and_graphs(task: Task, generator: torch.Generator) -> Example:
    truth = torch.randn(EXAMPLES, task.outputs, generator=generator)
    of_graph = (torch.arange(EXAMPLES) % 5 == 0).float()[:, None]
    return torch.cat([truth, of_graph], dim=1), truth


# A new task adds the maker of its targets here.
MAKERS: dict[str, Callable[[Task, torch.Generator], Example]] = {
    "edge-binary-classification": labels,
    "edge-classification": classes,
    "edge-regression": numbers,
    "graph-binary-classification": labels,
    "graph-classification": classes,
    "graph-theory": of_nodes_and_graphs,
    "link-prediction": links,
    "link-ranking": queries,
    "graph-regression": numbers,
    "node-binary-classification": labels,
    "node-classification": classes,
    "node-regression": numbers,
}


def make(name: str) -> Task:
    """The task with its defaults, and 3 for every argument that has none; few links are ranked, so few may hit."""
    kind = TASKS.get(name)
    few = {"metric": "hits@3"} if name == "link-prediction" else {}
    return kind(**{key: 3 for key, p in declared_arguments(kind).items() if p.default is p.empty}, **few)


@pytest.fixture(params=TASKS.names())
def task(request: pytest.FixtureRequest) -> Task:
    return make(request.param)


@pytest.fixture(params=range(3))
def generator(request: pytest.FixtureRequest) -> torch.Generator:
    return torch.Generator().manual_seed(request.param)


def guess(task: Task, generator: torch.Generator) -> Tensor:
    return torch.randn(EXAMPLES, task.outputs, generator=generator)


def better(task: Task, one: float, other: float) -> bool:
    return one > other if task.metric.higher_is_better else one < other


def test_metadata_is_complete(task: Task) -> None:
    assert TASKS.get(task.name) is type(task)
    assert task.level in get_args(TaskLevel)
    assert METRICS.get(task.metric.name) is type(task.metric)
    assert task.outputs >= 1
    assert (type(task).__doc__ or "").strip()
    assert task.name in MAKERS, "say in this file what the targets of the new task are"


def test_score_is_invariant_to_example_order(task: Task, generator: torch.Generator) -> None:
    target, _ = MAKERS[task.name](task, generator)
    prediction = guess(task, generator)
    order = torch.randperm(EXAMPLES, generator=generator)
    assert task.score(prediction[order], target[order]) == pytest.approx(task.score(prediction, target), rel=1e-12)


def test_loss_is_invariant_to_example_order(task: Task, generator: torch.Generator) -> None:
    target, _ = MAKERS[task.name](task, generator)
    prediction = guess(task, generator)
    order = torch.randperm(EXAMPLES, generator=generator)
    assert float(task.loss(prediction[order], target[order])) == pytest.approx(
        float(task.loss(prediction, target)), rel=1e-5
    )


def test_perfect_prediction_has_the_best_score_and_the_smallest_loss(task: Task, generator: torch.Generator) -> None:
    target, perfect = MAKERS[task.name](task, generator)
    best, least = task.score(perfect, target), float(task.loss(perfect, target))
    worst, most = task.metric.range
    if task.metric.name != "log10-mse":  # without a best value
        assert best == (most if task.metric.higher_is_better else worst)
    assert least == pytest.approx(0.0, abs=1e-6)
    for _ in range(10):
        prediction = guess(task, generator)
        assert better(task, best, task.score(prediction, target))
        assert least < float(task.loss(prediction, target))


def test_interpolating_towards_the_target_improves_score_and_loss(task: Task, generator: torch.Generator) -> None:
    target, perfect = MAKERS[task.name](task, generator)
    start = guess(task, generator)
    way = [torch.lerp(start, perfect.float(), part) for part in (0.0, 0.3, 0.6, 1.0)]
    losses = [float(task.loss(prediction, target)) for prediction in way]
    scores = [task.score(prediction, target) for prediction in way]
    assert losses == sorted(losses, reverse=True)
    assert scores == sorted(scores, reverse=not task.metric.higher_is_better)


def test_step_against_the_gradient_lowers_the_loss(task: Task, generator: torch.Generator) -> None:
    target, _ = MAKERS[task.name](task, generator)
    prediction = guess(task, generator).requires_grad_()
    loss = task.loss(prediction, target)
    assert loss.shape == ()
    (gradient,) = torch.autograd.grad(loss, prediction)
    assert torch.isfinite(gradient).all()
    assert float(task.loss((prediction - 0.1 * gradient).detach(), target)) < loss.item()


@pytest.mark.parametrize("name", TASKS.names())
@pytest.mark.parametrize("metric", METRICS.names())
def test_every_metric_of_the_output_type_scores_the_task(name: str, metric: str) -> None:
    kind = TASKS.get(name)
    outputs = {key: 2 for key in ("classes", "targets") if key in declared_arguments(kind)}
    if "metric" not in declared_arguments(kind):
        pytest.skip("the metric is fixed")
    if kind.output_type not in METRICS.get(metric).output_types:
        with pytest.raises(GraphTrialError, match=f"metric '{metric}' is not defined for {name}; choose"):
            kind(**outputs, metric=metric)
        return
    task = kind(**outputs, metric=metric)
    target, perfect = MAKERS[name](task, torch.Generator().manual_seed(0))
    low, high = task.metric.range
    best = task.score(perfect.float(), target)
    assert best == high if task.metric.higher_is_better else best == low or low < -1
