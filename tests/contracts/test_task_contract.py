"""What every task promises, today's and tomorrow's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from graphtrial.spec import declared_arguments
from graphtrial.tasks import TASKS, Task

Example = tuple[Tensor, Tensor]
"""A target for each example, and the prediction that is right in every one."""

EXAMPLES = 60


def classes(task: Task, generator: torch.Generator) -> Example:
    target = torch.randint(task.outputs, (EXAMPLES,), generator=generator)
    return target, 20.0 * torch.nn.functional.one_hot(target, task.outputs)


def numbers(task: Task, generator: torch.Generator) -> Example:
    target = torch.randn(EXAMPLES, task.outputs, generator=generator)
    return target, target.clone()


# A new task adds the maker of its targets here.
MAKERS: dict[str, Callable[[Task, torch.Generator], Example]] = {
    "graph-classification": classes,
    "graph-regression": numbers,
}


def make(name: str) -> Task:
    """The task with its defaults, and 3 for every argument that has none."""
    kind = TASKS.get(name)
    return kind(**{key: 3 for key, p in declared_arguments(kind).items() if p.default is p.empty})


@pytest.fixture(params=TASKS.names())
def task(request: pytest.FixtureRequest) -> Task:
    return make(request.param)


@pytest.fixture(params=range(3))
def generator(request: pytest.FixtureRequest) -> torch.Generator:
    return torch.Generator().manual_seed(request.param)


def guess(task: Task, generator: torch.Generator) -> Tensor:
    return torch.randn(EXAMPLES, task.outputs, generator=generator)


def better(task: Task, one: float, other: float) -> bool:
    return one > other if task.higher_is_better else one < other


def test_metadata_is_complete(task: Task) -> None:
    assert TASKS.get(task.name) is type(task)
    assert task.level in ("graph", "node", "edge")
    assert task.metric
    assert isinstance(task.higher_is_better, bool)
    assert task.outputs >= 1
    assert (type(task).__doc__ or "").strip()
    assert task.name in MAKERS, "say in this file what the targets of the new task are"


def test_the_score_does_not_depend_on_the_order_of_the_examples(task: Task, generator: torch.Generator) -> None:
    target, _ = MAKERS[task.name](task, generator)
    prediction = guess(task, generator)
    order = torch.randperm(EXAMPLES, generator=generator)
    assert task.score(prediction[order], target[order]) == pytest.approx(task.score(prediction, target), rel=1e-12)


@pytest.mark.parametrize("size", [1, 7, 59, 60])
def test_neither_score_nor_loss_depends_on_batches(task: Task, generator: torch.Generator, size: int) -> None:
    target, _ = MAKERS[task.name](task, generator)
    prediction = guess(task, generator)
    batches = list(zip(prediction.split(size), target.split(size), strict=True))
    joined = [torch.cat(column) for column in zip(*batches, strict=True)]
    assert task.score(*joined) == task.score(prediction, target)
    mean = sum(float(task.loss(p, t)) * len(t) for p, t in batches) / EXAMPLES
    assert mean == pytest.approx(float(task.loss(prediction, target)), rel=1e-5)


def test_a_perfect_prediction_has_the_best_score_and_the_smallest_loss(task: Task, generator: torch.Generator) -> None:
    target, perfect = MAKERS[task.name](task, generator)
    best, least = task.score(perfect, target), float(task.loss(perfect, target))
    assert best == (100.0 if task.higher_is_better else 0.0)
    assert least == pytest.approx(0.0, abs=1e-6)
    for _ in range(10):
        prediction = guess(task, generator)
        assert better(task, best, task.score(prediction, target))
        assert least < float(task.loss(prediction, target))


def test_walking_from_a_guess_to_the_truth_improves_score_and_loss(task: Task, generator: torch.Generator) -> None:
    target, perfect = MAKERS[task.name](task, generator)
    start = guess(task, generator)
    way = [torch.lerp(start, perfect.float(), part) for part in (0.0, 0.3, 0.6, 1.0)]
    losses = [float(task.loss(prediction, target)) for prediction in way]
    scores = [task.score(prediction, target) for prediction in way]
    assert losses == sorted(losses, reverse=True)
    assert scores == sorted(scores, reverse=not task.higher_is_better)


def test_a_step_against_the_gradient_lowers_the_loss(task: Task, generator: torch.Generator) -> None:
    target, _ = MAKERS[task.name](task, generator)
    prediction = guess(task, generator).requires_grad_()
    loss = task.loss(prediction, target)
    assert loss.shape == ()
    (gradient,) = torch.autograd.grad(loss, prediction)
    assert torch.isfinite(gradient).all()
    assert float(task.loss((prediction - 0.1 * gradient).detach(), target)) < loss.item()
